-- The whole story in a headless Neovim: open, lens, run, cancel, run again, look
-- at what was found, edit, fix, run again. test.sh starts it in a workspace
-- with a copy of examples/owner.c; it prints PASS and FAIL lines.
local failed = false

local function say(...)
  io.stdout:write(table.concat({ ... }) .. '\n')
end

local function check(name, ok, detail)
  say(ok and 'PASS ' or 'FAIL ', name, ok and '' or ': ' .. (type(detail) == 'string' and detail or vim.inspect(detail)))
  failed = failed or not ok
  return ok
end

-- eventually waits for f to return something true, and gives up the whole story
-- if it does not.
local function eventually(name, f, seconds)
  local value
  local ok = vim.wait((seconds or 30) * 1000, function()
    value = f()
    return value
  end, 25)
  if not check(name, ok, 'did not happen in time; messages: ' .. vim.fn.execute('messages')) then
    vim.cmd('cquit 1')
  end
  return value
end

local skewlens = require('skewlens')
local opened
vim.ui.open = function(uri) -- there is no browser here
  opened = uri
end

vim.cmd.edit('owner.c')
local buf = vim.api.nvim_get_current_buf()
local id = eventually('the server attaches', function()
  local c = vim.lsp.get_clients({ name = 'skewlens', bufnr = buf })[1]
  return c and c.initialized and c.id
end)

local function line_of(pattern)
  for i, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    if line:find(pattern, 1, true) then
      return i
    end
  end
end

local function lens_title()
  local shown = vim.lsp.codelens.get(vim.lsp.codelens.enable and { bufnr = buf } or buf)
  local titles = {}
  for _, l in ipairs(shown) do
    l = l.lens or l -- 0.12 wraps it
    table.insert(titles, l.command and (l.range.start.line + 1 .. ' ' .. l.command.title) or '')
  end
  return table.concat(titles, '\n')
end

local function causes()
  return vim.tbl_filter(function(d)
    return d.source == 'skewlens'
  end, vim.diagnostic.get(buf))
end

-- alive says whether the profiled program runs.
local function alive()
  local program = vim.fn.getcwd() .. '/owner'
  for _, exe in ipairs(vim.fn.glob('/proc/[0-9]*/exe', false, true)) do
    if vim.uv.fs_readlink(exe) == program then
      return true
    end
  end
  return false
end

-- Nothing runs before it is asked for.
eventually('a lens stands over the section', function()
  return lens_title():find(line_of('/* SECTION */') .. ' Profile parallel section', 1, true)
end)
check('nothing was built by opening the file', vim.uv.fs_stat('owner') == nil)

-- Run, and cancel while the program runs.
vim.api.nvim_win_set_cursor(0, { line_of('/* SECTION */'), 0 })
vim.cmd('Skewlens profile')
eventually('progress begins', skewlens.running)
check('the status line says what runs', #skewlens.status() > 0)
eventually('the program runs', alive, 60)
vim.cmd('Skewlens cancel')
local asked = vim.uv.hrtime()
eventually('cancelling ends the program', function()
  return not alive()
end, 5)
check('within a second', vim.uv.hrtime() - asked < 1e9, (vim.uv.hrtime() - asked) / 1e9 .. ' s')
eventually('progress ends', function()
  return not skewlens.running()
end)
check('a cancelled run has no results', #causes() == 0, causes())

-- Run again, this time by the lens itself.
vim.lsp.codelens.run()
eventually('the lens starts a run', skewlens.running)
eventually('a cause is found', function()
  return #causes() > 0
end, 60)
local cause = causes()[1]
check('on the guilty line', cause.lnum + 1 == line_of('/* PLANTED */'), cause)
check('it is ranked', cause.message:find('^#1'), cause.message)
eventually('the run ends', function()
  return not skewlens.running()
end)
eventually('the lens has the imbalance', function()
  return lens_title():find('%d ?%%')
end)
eventually('an inlay hint stands on the line', function()
  for _, h in ipairs(vim.lsp.inlay_hint.get({ bufnr = buf })) do
    if h.inlay_hint.position.line + 1 == line_of('/* PLANTED */') then
      return true
    end
  end
end)

-- The hover, as a window.
vim.api.nvim_win_set_cursor(0, { line_of('/* PLANTED */'), cause.col })
vim.lsp.buf.hover()
local hover = eventually('the hover opens', function()
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(win).relative ~= '' then
      return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, false), '\n')
    end
  end
end)
check('it has a bar for each thread', hover:find('█'), hover)

-- Where the work is: in the header.
vim.cmd.edit('example.h')
local header = vim.api.nvim_get_current_buf()
eventually('the server attaches to the header', function()
  return #vim.lsp.get_clients({ name = 'skewlens', bufnr = header }) == 1
end)
local function signs()
  return #vim.api.nvim_buf_get_extmarks(header, vim.api.nvim_get_namespaces().skewlens_heat or -1, 0, -1, {})
end
check('no sign says where the work is until it is asked for', signs() == 0)
vim.cmd('Skewlens heat')
eventually(':Skewlens heat shows it', function()
  return signs() > 0
end, 10)
vim.cmd('Skewlens heat')
check('and hides it', signs() == 0)
vim.cmd.buffer(buf)

-- Lists and jumps.
vim.cmd('Skewlens causes')
eventually('the quickfix list has the causes', function()
  local first = vim.fn.getqflist()[1]
  return first and first.lnum == line_of('/* PLANTED */') and first.text:find('^#1')
end)
vim.cmd.cclose()
vim.api.nvim_win_set_cursor(0, { 1, 0 })
vim.cmd('Skewlens next')
eventually(':Skewlens next goes to it', function()
  return vim.api.nvim_win_get_cursor(0)[1] == line_of('/* PLANTED */')
end)

vim.cmd('Skewlens explain')
eventually(':Skewlens explain shows what that means', function()
  return vim.api.nvim_buf_get_name(0):find('branch%.md') and vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == '# branch'
end, 10)
vim.cmd('silent! only')
vim.api.nvim_set_current_buf(buf)

-- A code action that changes the workspace's file, and taking it back.
vim.lsp.buf.code_action({
  apply = true,
  filter = function(action)
    return action.title:find('Do not show', 1, true)
  end,
})
eventually('a cause can be suppressed', function()
  return #causes() == 0
end, 10)
vim.cmd.bwipeout({ '.skewlens.toml', bang = true })
eventually('and comes back', function()
  return #causes() > 0
end, 10)

-- Editing above moves everything along.
vim.api.nvim_buf_set_lines(buf, 0, 0, false, { '/* one */', '/* two */' })
eventually('edited above: the server says the new line', function()
  return causes()[1] and causes()[1].lnum + 1 == line_of('/* PLANTED */')
end)
eventually('edited above: so does the quickfix list', function()
  local first = vim.fn.getqflist()[1]
  return first and first.lnum == line_of('/* PLANTED */') and first.text:find('edited since')
end, 5)
vim.api.nvim_win_set_cursor(0, { 1, 0 })
vim.cmd('Skewlens next')
eventually('edited above: the jump is still right', function()
  return vim.api.nvim_win_get_cursor(0)[1] == line_of('/* PLANTED */')
end)

-- A run would not see what is not saved: it is refused, by name.
local said = {}
local notify = vim.notify
vim.notify = function(text, ...)
  table.insert(said, text)
  return notify(text, ...)
end
vim.cmd('Skewlens profile')
eventually('unsaved files are refused by name', function()
  return table.concat(said, '\n'):find('owner%.c')
end)

-- The report.
vim.cmd('Skewlens report')
eventually('the report opens', function()
  return opened
end)
local page = vim.system({ 'curl', '-fsS', opened }, { text = true }):wait(10000)
check('and is there', page.code == 0 and page.stdout:find('<html'), page.stderr)

-- Fix it, and look again.
vim.api.nvim_buf_set_lines(buf, 0, 2, false, { '#define FIXED' })
vim.cmd.write()
vim.cmd('Skewlens profile')
eventually('the fixed program runs', skewlens.running, 10)
eventually('the run ends', function()
  return not skewlens.running()
end, 60)
eventually('it is balanced', function()
  return #causes() == 0 and lens_title():find('[Bb]alanced')
end)
eventually('and the quickfix list is empty', function()
  return #vim.fn.getqflist() == 0
end, 5)

-- Where its speedup goes, of less work.
vim.cmd.edit('.skewlens.toml')
vim.cmd('%s/600/60/')
vim.cmd.write()
vim.api.nvim_set_current_buf(buf)
vim.cmd('Skewlens speedup owner')
eventually('the program is timed', skewlens.running, 10)
eventually('the timing ends', function()
  return not skewlens.running()
end, 60)
eventually('a lens has the speedup', function()
  return lens_title():find('speedup .- of 2') and lens_title():find('[Bb]alanced')
end)

-- Without debug information a cause stands on no line: the list says why.
vim.api.nvim_buf_set_lines(buf, 0, 1, false, {}) -- as it was before it was fixed
vim.cmd.write()
vim.cmd.edit('.skewlens.toml')
vim.cmd('%s/ -g / /')
vim.cmd.write()
vim.api.nvim_set_current_buf(buf)
vim.cmd('Skewlens profile target')
eventually('without -g the program runs', skewlens.running, 10)
eventually('that run ends', function()
  return not skewlens.running()
end, 60)
vim.cmd('Skewlens causes')
eventually('and the list says why its cause has no line', function()
  local first = vim.fn.getqflist()[1]
  return first and first.valid == 0 and first.text:find('build with %-g')
end, 10)
vim.cmd.cclose()
vim.cmd.edit('.skewlens.toml')
vim.cmd('%s/-pthread/-g -pthread/')
vim.cmd.write()
vim.api.nvim_set_current_buf(buf)
vim.api.nvim_buf_set_lines(buf, 0, 0, false, { '#define FIXED' })
vim.cmd.write()
vim.cmd('Skewlens profile target')
eventually('built with it again', skewlens.running, 10)
eventually('it is balanced again', function()
  return not skewlens.running() and lens_title():find('[Bb]alanced')
end, 60)

-- The rest of the plugin.
check('completion', vim.deep_equal(vim.fn.getcompletion('Skewlens c', 'cmdline'), { 'cancel', 'causes', 'clear', 'compare' }),
  vim.fn.getcompletion('Skewlens c', 'cmdline'))
check('targets are completed', vim.deep_equal(vim.fn.getcompletion('Skewlens profile target ', 'cmdline'), { 'owner' }))
check('for a speedup too', vim.deep_equal(vim.fn.getcompletion('Skewlens speedup ', 'cmdline'), { 'owner' }))
check('help', pcall(vim.cmd.help, 'skewlens'))
vim.cmd.only()
vim.cmd('checkhealth skewlens')
local health = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
check('checkhealth finds the server', health:find('skewlens doctor') and not health:find('ERROR'), health)
vim.cmd('silent only')
vim.cmd('Skewlens log')
check('the log has what the program printed', vim.fn.search('owner', 'w') > 0, vim.api.nvim_buf_get_lines(0, 0, -1, false))

-- A mistake in .skewlens.toml is shown there.
vim.cmd.edit('.skewlens.toml')
local toml = vim.api.nvim_get_current_buf()
vim.api.nvim_buf_set_lines(toml, 1, 2, false, { 'name = 7' })
eventually('a mistake in .skewlens.toml stands on its line', function()
  local d = vim.diagnostic.get(toml)[1]
  return d and d.lnum == 1
end, 10)
vim.cmd('bwipeout!')

vim.lsp.stop_client(id)
eventually('the server ends', function()
  return vim.lsp.get_client_by_id(id) == nil
end, 5)
vim.api.nvim_set_current_buf(buf)
vim.cmd.edit() -- starts it again
eventually('after a restart the results are there', function()
  return lens_title():find('[Bb]alanced')
end, 20)
vim.cmd(failed and 'cquit 1' or 'qall!')
