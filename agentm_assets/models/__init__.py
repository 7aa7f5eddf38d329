"""The embedding model: located, exported once, served without PyTorch.

onnxruntime reports its use over the network unless it is told not to when it is first imported;
whatever of this package is imported comes after this line, and so do the processes it starts.
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
