"""Start Python with the arguments given, without root's powers over permission bits.

Root reads and writes everything, so a test of permissions run by root would test nothing. This
gives up just the two capabilities that pass over permission bits (linux/capability.h:
CAP_DAC_OVERRIDE 1,
CAP_DAC_READ_SEARCH 2; linux/prctl.h: PR_CAPBSET_DROP 24); they leave for good when the program is
started by exec.
"""

import ctypes
import os
import sys

PR_CAPBSET_DROP = 24

libc = ctypes.CDLL(None, use_errno=True)
for capability in (1, 2):
    if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
        sys.exit(f"a capability can't be given up: {os.strerror(ctypes.get_errno())}")
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
