"""What people see: terminal, live line, figures, pages."""
