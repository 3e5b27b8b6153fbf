/* module.c: goblin_pz._core, in several phases (PEP 489): all Python objects are in the module's
 * state, so the module can be imported again. NumPy supports one interpreter only, and so do we. */
#include "methods.h"
#include "np_glue.h"
#include "pzpy.h"

static pzpy_state *state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

static PyObject *module_load(PyObject *module, PyObject *const *args, Py_ssize_t given,
                             PyObject *kwnames)
{
    return pzpy_set_load((PyObject *)state_of(module)->set_type, args, given, kwnames);
}

static PyMethodDef module_methods[] = {
    {"load", (PyCFunction)(void (*)(void))module_load, METH_FASTCALL | METH_KEYWORDS,
     pzpy_load_doc},
    {"_restore", pzpy_restore, METH_VARARGS, "Make a set from a pickle's parts."},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    if (type != NULL && PyModule_AddType(module, type) < 0)
        Py_CLEAR(type);
    return type;
}

static int module_exec(PyObject *module)
{
    pzpy_state *state = state_of(module);
    if (pzpy_np_import() < 0)
        return -1;
    if (pzpy_lock_setup() < 0) {
        PyErr_SetString(PyExc_ImportError, "the locks could not be set up");
        return -1;
    }
    state->set_type = add_type(module, &pzpy_set_spec);
    state->iter_type = state->set_type == NULL ? NULL : add_type(module, &pzpy_iter_spec);
    if (state->iter_type == NULL)
        return -1;
    return PyModule_AddIntConstant(module, "TRACEMALLOC_DOMAIN", PZPY_TRACE_DOMAIN);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    pzpy_state *state = state_of(module);
    Py_VISIT(state->set_type);
    Py_VISIT(state->iter_type);
    Py_VISIT(state->uuid_type);
    return 0;
}

static int module_clear(PyObject *module)
{
    pzpy_state *state = state_of(module);
    Py_CLEAR(state->set_type);
    Py_CLEAR(state->iter_type);
    Py_CLEAR(state->uuid_type);
    return 0;
}

static void module_free(void *module)
{
    module_clear(module);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#if PY_VERSION_HEX >= 0x030c0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

struct PyModuleDef pzpy_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "goblin_pz._core",
    .m_doc = "The packed sorted set, compiled. Use it through `goblin_pz`.",
    .m_size = sizeof(pzpy_state),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(&pzpy_module);
}
