"""The index: a cache of the vault, in DuckDB tables and in the serving files derived from them.

One question is one small product of matrices: OpenBLAS' threads cost more to wake and to wait for
than they save (75,000 chunks, two cores: 60 ms at the 95th percentile, 31 ms with one thread). The
variable works only when it is set before numpy is first imported.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
