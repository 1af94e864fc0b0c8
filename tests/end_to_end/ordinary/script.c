// SPDX-License-Identifier: MIT
// Runs a script in the interpreter that it is linked with: Lua, or LuaJIT, which compiles hot loops. With the
// few libraries that scripts here use, since starting them all takes longer than the scripts.
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>

static void open_library(lua_State* state, const char* name, lua_CFunction open) {
  lua_pushcfunction(state, open);
  lua_pushstring(state, name);
  lua_call(state, 1, 1);
  if (*name != 0 && LUA_VERSION_NUM > 501) lua_setglobal(state, name);  // before, they did it themselves
}

int main(int argc, char** argv) {
  lua_State* const state = luaL_newstate();
  open_library(state, "", luaopen_base);
  open_library(state, "table", luaopen_table);
#ifdef LUA_JITLIBNAME
  open_library(state, "jit", luaopen_jit);
#endif
  if (argc > 1 && luaL_dostring(state, argv[1]) != 0) {
    fprintf(stderr, "%s\n", lua_tostring(state, -1));
    return 3;
  }
  const int status = (int)lua_tointeger(state, -1);
  lua_close(state);
  return status;
}
