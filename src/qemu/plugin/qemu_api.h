// SPDX-License-Identifier: MIT
#ifndef PMUSIM_QEMU_PLUGIN_QEMU_API_H
#define PMUSIM_QEMU_PLUGIN_QEMU_API_H

#include <cstddef>
#include <cstdint>

/// The part of qemu's plugin interface, version 1, that the recorder's plugin uses. qemu exports the
/// functions; https://www.qemu.org/docs/master/devel/tcg-plugins.html describes them.
extern "C" {

using qemu_plugin_id_t = uint64_t;
using qemu_plugin_meminfo_t = uint32_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_CB_RW_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

using qemu_plugin_vcpu_simple_cb_t = void (*)(qemu_plugin_id_t id, unsigned vcpu);
using qemu_plugin_udata_cb_t = void (*)(qemu_plugin_id_t id, void* data);
using qemu_plugin_vcpu_udata_cb_t = void (*)(unsigned vcpu, void* data);
using qemu_plugin_vcpu_tb_trans_cb_t = void (*)(qemu_plugin_id_t id, qemu_plugin_tb* tb);
using qemu_plugin_vcpu_mem_cb_t = void (*)(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address,
                                           void* data);
using qemu_plugin_vcpu_syscall_cb_t = void (*)(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t,
                                               uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                                               uint64_t);
using qemu_plugin_vcpu_syscall_ret_cb_t = void (*)(qemu_plugin_id_t id, unsigned vcpu, int64_t number,
                                                   int64_t result);

void qemu_plugin_reset(qemu_plugin_id_t id, void (*done)(qemu_plugin_id_t id));
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_simple_cb_t cb);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t cb);
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb* tb, qemu_plugin_vcpu_udata_cb_t cb,
                                          qemu_plugin_cb_flags flags, void* data);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn* insn, qemu_plugin_vcpu_mem_cb_t cb,
                                      qemu_plugin_cb_flags flags, qemu_plugin_mem_rw rw, void* data);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_syscall_cb_t cb);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_syscall_ret_cb_t cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, qemu_plugin_udata_cb_t cb, void* data);

size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* tb);
uint64_t qemu_plugin_tb_vaddr(const qemu_plugin_tb* tb);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb* tb, size_t index);
const void* qemu_plugin_insn_data(const qemu_plugin_insn* insn);
size_t qemu_plugin_insn_size(const qemu_plugin_insn* insn);
void* qemu_plugin_insn_haddr(const qemu_plugin_insn* insn);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
const char* qemu_plugin_path_to_binary(void);
}

#endif
