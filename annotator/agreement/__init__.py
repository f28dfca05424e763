"""How far people agree, with each other and with themselves."""
