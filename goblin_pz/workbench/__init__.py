"""The workbench: replay a trace into a set, verify the result, keep the evidence, draw it.

Modules, from the bottom up: `blocks` (what a trace is), `textcols`, `arraycols`, `gitlog` and
`shapes` (where traces come from), `traces` (which of them an input names), `oracle` (the
independent count), `digests` (the published digest scheme), `layouts`, `engines` and `child` (the
set and the process it lives in), `sampler` (memory read from the kernel), `run` (one replay),
`evidence` (result folders), `stats`, `charts`, `report`, and `commands` (the command line).

Only `engines` imports the compiled set: old results can be checked and drawn without a build.
"""
