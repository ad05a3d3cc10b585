"""What people see: the terminal, reports, HTML templates, colours."""
