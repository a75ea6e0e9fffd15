-- A Neovim that asks for diagnostics itself, with the server told so, shows each once.
-- One that cannot be told to ask again is sent them all the same. test.sh starts it
-- as story.lua.
local function eventually(name, f)
  local ok = vim.wait(60000, f, 25)
  io.stdout:write((ok and 'PASS ' or 'FAIL ') .. name .. '\n')
  if not ok then
    vim.cmd('cquit 1')
  end
end

local skewlens = require('skewlens')
local config = skewlens.config
skewlens.config = function()
  local c = config()
  c.init_options.pullDiagnostics = true
  return c
end
skewlens.setup({})
vim.cmd.edit('owner.c')
local buf = vim.api.nvim_get_current_buf()
eventually('pull: the server attaches', function()
  local c = vim.lsp.get_clients({ name = 'skewlens', bufnr = buf })[1]
  return c and c.initialized and (c.server_capabilities.diagnosticProvider ~= nil) == (vim.fn.has('nvim-0.12') == 1)
end)
vim.cmd('Skewlens profile target')
local line = vim.fn.search('/\\* PLANTED \\*/', 'wn')
eventually('pull: one diagnostic is on the guilty line', function()
  local d = vim.diagnostic.get(buf, { lnum = line - 1 })
  return #d == 1 and d[1].message:find('^#1') ~= nil
end)
vim.api.nvim_buf_set_lines(buf, 0, 0, false, { '/* one */' })
eventually('pull: it moves with the text', function()
  local d = vim.diagnostic.get(buf)
  return #d == 1 and d[1].lnum == line
end)
vim.cmd('Skewlens clear')
eventually('pull: it goes when results are cleared', function()
  return #vim.diagnostic.get(buf) == 0
end)
vim.cmd('qall!')
