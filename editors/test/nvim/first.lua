-- The first minute with a project that nobody has configured: open a file, one
-- key, and the guilty line is marked, in another file than the one that is open.
-- test.sh starts it in a copy of one of the projects; it prints PASS and FAIL lines.
local project = vim.env.PROJECT
local open, guilty, mark = unpack(({
  make = { 'src/main.c', 'src/work.c', 'for (int i' },
  cmake = { 'src/main.c', 'src/work.c', 'for (int i' },
  cargo = { 'src/main.rs', 'src/work.rs', 'for i in' },
})[project])

local function check(name, ok, detail)
  io.stdout:write((ok and 'PASS ' or 'FAIL ') .. project .. ': ' .. name .. (ok and '' or ': ' .. tostring(detail)) .. '\n')
  if not ok then
    vim.cmd('cquit 1')
  end
end

local function eventually(name, f, seconds)
  local value
  local ok = vim.wait((seconds or 30) * 1000, function()
    value = f()
    return value
  end, 25)
  check(name, ok, 'did not happen in time; messages: ' .. vim.fn.execute('messages'))
  return value
end

vim.ui.select = function()
  check('nothing had to be chosen', false, 'a choice was offered')
end
vim.ui.input = function()
  check('nothing had to be typed', false, 'a question was asked')
end
local told = {}
vim.notify = function(message)
  table.insert(told, message)
end

vim.cmd.edit(open)
local buf = vim.api.nvim_get_current_buf()
eventually('the server attaches', function()
  local c = vim.lsp.get_clients({ name = 'skewlens', bufnr = buf })[1]
  return c and c.initialized
end)
local function titles()
  local shown = vim.lsp.codelens.get(vim.lsp.codelens.enable and { bufnr = buf } or buf)
  return table.concat(vim.tbl_map(function(l)
    l = l.lens or l
    return l.command and l.command.title or ''
  end, shown), '\n')
end
eventually('a lens stands over the section', function()
  return titles():find('Profile parallel section', 1, true)
end)
vim.fn.search('join')
vim.cmd('Skewlens profile')
eventually('one command builds, runs and finds the imbalance', function()
  return titles():find('imbalance 53 %', 1, true)
end, 120)
check('no file was written for it', vim.fn.filereadable('.skewlens.toml') == 0)
eventually('it says how to keep that', function()
  return vim.tbl_contains(told, function(m)
    return m:find(':Skewlens keep', 1, true) ~= nil
  end, { predicate = true })
end)
vim.cmd('Skewlens causes')
eventually('the list has the cause', function()
  return #vim.fn.getqflist() == 1
end)
vim.cmd('cc 1')
check('it leads to the other file', vim.api.nvim_buf_get_name(0):find(guilty, 1, true), vim.api.nvim_buf_get_name(0))
check('and to its line', vim.api.nvim_get_current_line():find(mark, 1, true), vim.api.nvim_get_current_line())
vim.cmd('cclose')
vim.cmd('Skewlens keep')
eventually('what was run is written down', function()
  return vim.fs.basename(vim.api.nvim_buf_get_name(0)) == '.skewlens.toml'
end)
check('as a target with its build', vim.fn.search('^build = ') > 0)
vim.cmd('qall!')
