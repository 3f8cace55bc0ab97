"""What this process and its children may use: processors, environment, network."""
