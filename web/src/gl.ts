// The part of regl's interface that regl-scatterplot and regl-line use, without regl. regl turns every draw command into
// JavaScript at run time, which a Content-Security-Policy has to allow with 'unsafe-eval'; here a command is a loop over
// its uniforms and attributes, so the page runs under script-src 'self'. build.mjs puts this module in regl's place.

type Context = Record<string, number>;
type Dynamic<T> = T | ((context: Context, props: Record<string, unknown>) => T);
type Numbers = ArrayLike<number> | ArrayLike<ArrayLike<number>>;

interface Definition {
  vert: string;
  frag: string;
  attributes: Record<string, unknown>;
  uniforms?: Record<string, Dynamic<unknown>>;
  count?: Dynamic<number>;
  elements?: Dynamic<Elements | Numbers>;
  primitive?: "points" | "triangles";
  framebuffer?: Dynamic<Framebuffer>;
  blend?: { enable: boolean; func: Record<"srcRGB" | "srcAlpha" | "dstRGB" | "dstAlpha", string> };
  depth?: { enable: boolean }; // never on: the plane has no depth
}

interface Upload {
  data?: Numbers;
  length?: number; // in bytes
}

interface Buffer {
  (upload: Upload | Numbers): void;
  subdata: (data: Numbers) => void;
  destroy: () => void;
  gl: WebGLBuffer;
}

interface Elements extends Buffer {
  size: () => number;
  kind: () => number;
}

interface Texture {
  texture: WebGLTexture;
  width: number;
  height: number;
  destroy: () => void;
}

interface Framebuffer {
  frame: WebGLFramebuffer;
  color: () => Texture;
  use: (draw: () => void) => void;
  resize: (width: number, height: number) => void;
  destroy: () => void;
}

interface AttributeSource {
  buffer: Dynamic<Buffer>;
  size?: number;
  offset?: number;
  stride?: number;
}

const SIZES: Record<number, number> = { 0x1406: 1, 0x8b50: 2, 0x8b51: 3, 0x8b52: 4 }; // GL_FLOAT, GL_FLOAT_VEC2, ...

function flat(data: Numbers): number[] | Float32Array {
  if (data instanceof Float32Array) return data;
  const values = Array.from(data as ArrayLike<number | ArrayLike<number>>);
  return values.length && typeof values[0] === "object" ? (values as number[][]).flat() : (values as number[]);
}

const floats = (data: Numbers): Float32Array => (data instanceof Float32Array ? data : new Float32Array(flat(data)));

export default function createRegl({ gl, extensions = [] }: { gl: WebGLRenderingContext; extensions?: string[] }) {
  const has = new Set(extensions.filter((name) => gl.getExtension(name)).map((name) => name.toLowerCase()));
  const factors: Record<string, number> = {
    one: gl.ONE,
    "src alpha": gl.SRC_ALPHA,
    "one minus src alpha": gl.ONE_MINUS_SRC_ALPHA,
  };
  const programs = new Map<string, WebGLProgram>();
  let bound: Framebuffer | null = null;

  function context(): Context {
    const [width, height] = bound
      ? [bound.color().width, bound.color().height]
      : [gl.drawingBufferWidth, gl.drawingBufferHeight];
    return {
      viewportWidth: width,
      viewportHeight: height,
      drawingBufferWidth: gl.drawingBufferWidth,
      drawingBufferHeight: gl.drawingBufferHeight,
      pixelRatio: window.devicePixelRatio,
    };
  }

  function bind(target: Framebuffer | null): void {
    bound = target;
    gl.bindFramebuffer(gl.FRAMEBUFFER, target ? target.frame : null);
    const { viewportWidth, viewportHeight } = context();
    gl.viewport(0, 0, viewportWidth, viewportHeight);
  }

  function within(target: Framebuffer | null, draw: () => void): void {
    const before = bound;
    bind(target);
    try {
      draw();
    } finally {
      bind(before);
    }
  }

  function makeBuffer(target: number, convert: (data: Numbers) => BufferSource): Buffer {
    const handle = gl.createBuffer();
    if (!handle) throw new Error("WebGL gives no buffer");
    const put = (upload: Upload | Numbers): void => {
      const bare = Array.isArray(upload) || ArrayBuffer.isView(upload);
      const { data, length } = bare ? { data: upload as Numbers, length: 0 } : (upload as Upload);
      gl.bindBuffer(target, handle);
      if (data) gl.bufferData(target, convert(data), gl.DYNAMIC_DRAW);
      else gl.bufferData(target, length ?? 0, gl.DYNAMIC_DRAW);
    };
    const subdata = (data: Numbers): void => {
      gl.bindBuffer(target, handle);
      gl.bufferSubData(target, 0, convert(data));
    };
    return Object.assign(put, { subdata, destroy: () => gl.deleteBuffer(handle), gl: handle });
  }

  function buffer(upload?: Upload | Numbers): Buffer {
    const buffer = makeBuffer(gl.ARRAY_BUFFER, (data) => floats(data) as BufferSource);
    if (upload) buffer(upload);
    return buffer;
  }

  function elements(): Elements {
    let size = 0;
    let kind: number = gl.UNSIGNED_SHORT;
    const buffer = makeBuffer(gl.ELEMENT_ARRAY_BUFFER, (data) => {
      const indices = flat(data);
      size = indices.length;
      const wide = has.has("oes_element_index_uint");
      kind = wide ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT;
      return wide ? new Uint32Array(indices) : new Uint16Array(indices);
    });
    return Object.assign(buffer, { size: () => size, kind: () => kind });
  }

  function texture(options: { data?: ArrayBufferView | null; shape: [number, number, number]; type?: string }): Texture {
    const [width, height] = options.shape;
    const handle = gl.createTexture();
    if (!handle) throw new Error("WebGL gives no texture");
    gl.bindTexture(gl.TEXTURE_2D, handle);
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
    for (const name of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, name, gl.CLAMP_TO_EDGE);
    const kind = options.type === "float" ? gl.FLOAT : gl.UNSIGNED_BYTE;
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, width, height, 0, gl.RGBA, kind, options.data ?? null);
    return { texture: handle, width, height, destroy: () => gl.deleteTexture(handle) };
  }

  function framebuffer(options: { color?: Texture; width?: number; height?: number; colorType?: string }): Framebuffer {
    const frame = gl.createFramebuffer();
    if (!frame) throw new Error("WebGL gives no framebuffer");
    let color: Texture;
    const attach = (next: Texture): boolean => {
      color = next;
      gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, next.texture, 0);
      const whole = gl.checkFramebufferStatus(gl.FRAMEBUFFER) === gl.FRAMEBUFFER_COMPLETE;
      gl.bindFramebuffer(gl.FRAMEBUFFER, bound ? bound.frame : null);
      return whole;
    };
    const surface = (width: number, height: number): void => {
      const shape: [number, number, number] = [Math.max(1, Math.floor(width)), Math.max(1, Math.floor(height)), 4];
      // Where floats cannot be drawn to, bytes can: fine densities are then coarser.
      if (attach(texture({ shape, type: options.colorType ?? "uint8" }))) return;
      color.destroy();
      attach(texture({ shape }));
    };
    if (options.color) attach(options.color);
    else surface(options.width ?? 1, options.height ?? 1);
    const self: Framebuffer = {
      frame,
      color: () => color,
      use: (draw) => within(self, draw),
      resize: (width, height) => {
        color.destroy();
        surface(width, height);
      },
      destroy: () => gl.deleteFramebuffer(frame),
    };
    return self;
  }

  function shader(kind: number, source: string): WebGLShader {
    const handle = gl.createShader(kind);
    if (!handle) throw new Error("WebGL gives no shader");
    gl.shaderSource(handle, source);
    gl.compileShader(handle);
    return handle;
  }

  function program(vert: string, frag: string): WebGLProgram {
    const key = `${vert}\0${frag}`;
    let linked = programs.get(key);
    if (!linked) {
      linked = gl.createProgram();
      gl.attachShader(linked, shader(gl.VERTEX_SHADER, vert));
      gl.attachShader(linked, shader(gl.FRAGMENT_SHADER, frag));
      gl.linkProgram(linked);
      if (!gl.getProgramParameter(linked, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(linked) ?? "no WebGL program");
      programs.set(key, linked);
    }
    return linked;
  }

  function setUniform(place: WebGLUniformLocation, kind: number, value: unknown, unit: number): number {
    if (kind === gl.SAMPLER_2D) {
      const source = value as Texture | Framebuffer;
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, "color" in source ? source.color().texture : source.texture);
      gl.uniform1i(place, unit);
      return unit + 1;
    }
    const values = typeof value === "number" || typeof value === "boolean" ? [Number(value)] : (value as number[]);
    if (kind === gl.FLOAT_MAT4) gl.uniformMatrix4fv(place, false, values);
    else if (kind === gl.FLOAT_VEC4) gl.uniform4fv(place, values);
    else if (kind === gl.FLOAT_VEC3) gl.uniform3fv(place, values);
    else if (kind === gl.FLOAT_VEC2) gl.uniform2fv(place, values);
    else if (kind === gl.FLOAT) gl.uniform1fv(place, values);
    else gl.uniform1iv(place, values); // int and bool
    return unit;
  }

  /** A draw command: what does not change is looked up once, the rest at each call. */
  function command(definition: Definition): (props?: Record<string, unknown>) => void {
    const used = program(definition.vert, definition.frag);
    const attributes = listActive(gl.ACTIVE_ATTRIBUTES, (i) => gl.getActiveAttrib(used, i)).map(({ name, type }) => ({
      source: definition.attributes[name],
      place: gl.getAttribLocation(used, name),
      size: SIZES[type] ?? 1,
      own: buffer(), // for values that a command brings itself
    }));
    const uniforms = listActive(gl.ACTIVE_UNIFORMS, (i) => gl.getActiveUniform(used, i)).map(({ name, type }) => ({
      value: definition.uniforms?.[name],
      place: gl.getUniformLocation(used, name),
      type,
    }));
    const indices = definition.elements ? elements() : null;

    function listActive(what: number, one: (i: number) => WebGLActiveInfo | null): WebGLActiveInfo[] {
      const total = gl.getProgramParameter(used, what) as number;
      return Array.from({ length: total }, (_, i) => one(i)).filter((info): info is WebGLActiveInfo => info !== null);
    }

    function feed(at: Context, props: Record<string, unknown>): void {
      for (const { source, place, size, own } of attributes) {
        const current = typeof source === "function" && !("gl" in source) ? (source as () => unknown)() : source;
        let from: AttributeSource;
        if (current && typeof current === "object" && "buffer" in current) from = current as AttributeSource;
        else {
          own(current as Numbers);
          from = { buffer: own };
        }
        const bound = "gl" in from.buffer ? from.buffer : from.buffer(at, props);
        gl.bindBuffer(gl.ARRAY_BUFFER, (bound as Buffer).gl);
        gl.enableVertexAttribArray(place);
        gl.vertexAttribPointer(place, from.size ?? size, gl.FLOAT, false, from.stride ?? 0, from.offset ?? 0);
      }
    }

    function run(props: Record<string, unknown>): void {
      const at = context();
      const now = <T>(value: Dynamic<T>): T =>
        typeof value === "function" && !("gl" in value) ? (value as (c: Context, p: unknown) => T)(at, props) : (value as T);
      gl.useProgram(used);
      gl.disable(gl.DEPTH_TEST);
      if (definition.blend?.enable) {
        const { srcRGB, dstRGB, srcAlpha, dstAlpha } = definition.blend.func;
        gl.enable(gl.BLEND);
        gl.blendFuncSeparate(factors[srcRGB], factors[dstRGB], factors[srcAlpha], factors[dstAlpha]);
      } else gl.disable(gl.BLEND);
      let unit = 0;
      for (const { value, place, type } of uniforms) {
        const set = now(value);
        if (place && set !== undefined && set !== null) unit = setUniform(place, type, set, unit);
      }
      feed(at, props);
      const primitive = definition.primitive === "points" ? gl.POINTS : gl.TRIANGLES;
      if (indices && definition.elements) {
        const current = now(definition.elements);
        const bound = "gl" in current ? current : indices;
        if (bound === indices) indices(current as Numbers);
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, bound.gl);
        gl.drawElements(primitive, bound.size(), bound.kind(), 0);
      } else gl.drawArrays(primitive, 0, now(definition.count ?? 0));
      for (const { place } of attributes) gl.disableVertexAttribArray(place);
    }

    return (props = {}) => {
      if (!definition.framebuffer) return run(props);
      const target = typeof definition.framebuffer === "function" ? definition.framebuffer(context(), props) : definition.framebuffer;
      return within(target, () => run(props));
    };
  }

  function frame(draw: () => void): { cancel: () => void } {
    let frame = 0;
    const next = (): void => {
      frame = requestAnimationFrame(next);
      draw();
    };
    frame = requestAnimationFrame(next);
    return { cancel: () => cancelAnimationFrame(frame) };
  }

  function clear({ color }: { color: [number, number, number, number] }): void {
    gl.clearColor(...color);
    gl.clear(gl.COLOR_BUFFER_BIT);
  }

  const hasExtension = (name: string): boolean => has.has(name.toLowerCase());
  const destroy = (): void => gl.getExtension("WEBGL_lose_context")?.loseContext();
  const poll = (): void => bind(bound);
  return Object.assign(command, { buffer, elements, texture, framebuffer, frame, clear, poll, hasExtension, destroy });
}
