-- Without the server: it is said once, and how to install it.
local said = {}
vim.notify = function(text)
  table.insert(said, text)
end

local function check(name, ok, detail)
  io.stdout:write((ok and 'PASS ' or 'FAIL ') .. name .. (ok and '' or ': ' .. vim.inspect(detail)) .. '\n')
end

vim.cmd.edit('owner.c')
vim.wait(500)
check('without the server, it says how to install it', #said == 1 and said[1]:find('go install', 1, true), said)
vim.cmd.edit('example.h')
vim.wait(500)
check('once', #said == 1, said)
vim.cmd('Skewlens profile')
check('and when it is asked for', #said == 2 and said[2]:find('go install', 1, true), said)
vim.cmd('checkhealth skewlens')
local health = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
check('checkhealth says so too', health:find('ERROR') and health:find('go install', 1, true), health)
vim.cmd('qall!')
