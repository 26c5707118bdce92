"""Fold reports at scale: the same sums, bit for bit, from one machine or from a cluster.

Source              Parquet files of reports or of sums, by path, pattern, directory or address
Engine              fold(source) gives sums or an error; read(source) also tells what was left out
Local               a few processes of this machine, in constant memory
Spark               a cluster, by PySpark 4: needs `pip install 'deniable[spark]'`
engine_by_name      "local" or "spark"
"""
