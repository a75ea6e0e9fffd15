--- The Neovim side of skewlens. All that is said about a program comes from the
--- server (`skewlens serve`); this starts it, passes commands on, and shows what
--- Neovim would not show by itself: progress, the ranked list, the log.
local M = {}

M.install_hint = 'go install github.com/skewlens/skewlens@latest'

local defaults = {
  cmd = nil, -- how to start the server; nil: `skewlens serve`, wherever skewlens is
  filetypes = { 'c', 'cpp', 'd', 'fortran', 'go', 'nim', 'ocaml', 'pascal', 'rust', 'toml' }, -- of toml only .skewlens.toml
  inlay_hints = true, -- turn them on where the server attaches
  codelens = true, -- likewise
  progress = true, -- show it in the message area
  heat = false, -- a sign beside each line that has part of a section's work
}

local list_title = 'skewlens: ranked causes'
local runs = {} -- progress that has begun and not ended, by token
local log = {} -- what the server and the program have printed
local told = false -- that the server is missing, once

--- options returns the user's over the defaults. They are read from
--- vim.g.skewlens each time, so it does not matter when that was set.
function M.options()
  return vim.tbl_deep_extend('force', defaults, vim.g.skewlens or {})
end

--- setup is for package managers that pass a table of options.
function M.setup(opts)
  vim.g.skewlens = vim.tbl_deep_extend('force', vim.g.skewlens or {}, opts or {})
  if vim.lsp.enable then
    vim.lsp.config('skewlens', M.config()) -- lsp/skewlens.lua may have been read before
  end
  M.enable()
end

--- server returns the command that starts the server, or nil if no program is
--- there. A Go user's own programs are often not in PATH, so those places count.
function M.server()
  local cmd = M.options().cmd
  if type(cmd) == 'string' then
    cmd = { cmd, 'serve' }
  end
  if cmd then
    return vim.fn.executable(cmd[1]) == 1 and cmd or nil
  end
  local places = { 'skewlens' }
  if vim.env.GOBIN then
    table.insert(places, vim.env.GOBIN .. '/skewlens')
  end
  for _, dir in ipairs(vim.split(vim.env.GOPATH or '~/go', ':', { trimempty = true })) do
    table.insert(places, vim.fs.normalize(dir) .. '/bin/skewlens')
  end
  for _, place in ipairs(places) do
    if vim.fn.executable(place) == 1 then
      return { place, 'serve' }
    end
  end
end

local function missing(level)
  vim.notify('skewlens: the server was not found. Install it with\n  ' .. M.install_hint
    .. "\nor name it: vim.g.skewlens = { cmd = { '/path/to/skewlens', 'serve' } }", level)
end

local build_files = {
  'CMakeLists.txt', 'meson.build', 'Cargo.toml', 'GNUmakefile', 'makefile', 'Makefile', 'configure',
}

--- project returns the folder that a build system knows: the nearest above a file,
--- and those directly above that it knows too.
local function project(bufnr)
  local dir = vim.fs.root(bufnr, build_files)
  while dir do
    local up = vim.fs.dirname(dir)
    if up == dir or up == vim.uv.os_homedir() or #vim.fs.find(build_files, { path = up, type = 'file', upward = true, stop = vim.fs.dirname(up) }) == 0 then
      break
    end
    dir = up
  end
  return dir ~= vim.uv.os_homedir() and dir or nil
end

--- root returns the folder whose .skewlens.toml counts for a file, and nil for
--- files that are none of our business.
local function root(bufnr)
  local name = vim.api.nvim_buf_get_name(bufnr)
  if name == '' or name:find('^%a[%w+.-]*://') or vim.bo[bufnr].buftype ~= '' then
    return nil
  end
  if vim.bo[bufnr].filetype == 'toml' and vim.fs.basename(name) ~= '.skewlens.toml' then
    return nil
  end
  return vim.fs.root(bufnr, { '.skewlens.toml' }) or vim.fs.root(bufnr, { '.git' }) or project(bufnr) or vim.fs.dirname(name)
end

local function request(client, method, params, done, bufnr)
  if vim.fn.has('nvim-0.11') == 1 then
    return client:request(method, params, done, bufnr)
  end
  return client.request(method, params, done, bufnr)
end

--- client returns the server of a buffer, or of any other when that has none.
local function client(bufnr)
  return vim.lsp.get_clients({ name = 'skewlens', bufnr = bufnr })[1]
    or vim.lsp.get_clients({ name = 'skewlens' })[1]
end

--- execute sends a command to the server. A run takes as long as the program;
--- meanwhile the editor stays free. What went wrong the server says itself, with
--- window/showMessage; only what it could not even begin is an error here.
function M.execute(c, name, arguments, bufnr, done)
  request(c, 'workspace/executeCommand', { command = name, arguments = arguments }, function(err, result)
    if err and err.code ~= -32800 then -- that one is: cancelled
      vim.notify('skewlens: ' .. err.message, vim.log.levels.ERROR)
    elseif done then
      done(result)
    end
  end, bufnr)
end

local server_commands = {
  'skewlens.profileSection', 'skewlens.profileTarget', 'skewlens.scaleTarget', 'skewlens.compare', 'skewlens.nextCause',
  'skewlens.openReport', 'skewlens.explain', 'skewlens.clear', 'skewlens.cancel', 'skewlens.finish', 'skewlens.remember',
}

--- commands make lenses and code actions take the same way as :Skewlens.
local function commands()
  local out = {}
  for _, name in ipairs(server_commands) do
    out[name] = function(command, ctx)
      local c = vim.lsp.get_client_by_id(ctx.client_id) or client(ctx.bufnr)
      M.execute(c, name, command.arguments, ctx.bufnr)
    end
  end
  return out
end

local function each_buffer(ctx, f)
  local c = vim.lsp.get_client_by_id(ctx.client_id)
  for bufnr in pairs(c and c.attached_buffers or {}) do
    if vim.api.nvim_buf_is_loaded(bufnr) then
      f(bufnr)
    end
  end
end

local function refresh_codelens(bufnr)
  if M.options().codelens then
    vim.lsp.codelens.refresh({ bufnr = bufnr })
  end
end

-- answer waits for what a person says, without holding the editor up.
local function answer(ask)
  local co = coroutine.running()
  if not co then
    return vim.NIL
  end
  ask(function(said)
    vim.schedule(function() -- not before the yield, where vim.ui answers at once
      coroutine.resume(co, said)
    end)
  end)
  return coroutine.yield()
end

local function handlers()
  local h = {
    -- Neovim asks anew but does not draw anew: off and on makes it.
    ['workspace/inlayHint/refresh'] = function(_, _, ctx)
      each_buffer(ctx, function(bufnr)
        if vim.lsp.inlay_hint.is_enabled({ bufnr = bufnr }) then
          vim.lsp.inlay_hint.enable(false, { bufnr = bufnr })
          vim.lsp.inlay_hint.enable(true, { bufnr = bufnr })
        end
      end)
      return vim.NIL
    end,
    ['window/showMessage'] = function(_, params)
      local levels = { vim.log.levels.ERROR, vim.log.levels.WARN }
      vim.notify(params.message, levels[params.type] or vim.log.levels.INFO)
      return vim.NIL
    end,
    -- Which of several the person means, and a line of text: the server asks where
    -- it cannot know. Neovim calls a request's handler in a coroutine.
    ['skewlens/choose'] = function(_, params)
      return answer(function(done)
        vim.ui.select(params.items, {
          prompt = params.title,
          kind = 'skewlens',
          format_item = function(item)
            return item.label .. (item.description and '  (' .. item.description .. ')' or '')
          end,
        }, function(_, index)
          done(index and { index = index - 1 } or vim.NIL)
        end)
      end)
    end,
    ['skewlens/ask'] = function(_, params)
      return answer(function(done)
        vim.ui.input({ prompt = params.title .. (params.hint and ' (' .. params.hint .. ')' or '') .. ': ' }, function(value)
          done(value and { value = value } or vim.NIL)
        end)
      end)
    end,
    -- Nothing that anybody must answer: Neovim's own would stop everything for it.
    ['window/showMessageRequest'] = function(_, params)
      vim.notify(params.message .. ' (:Skewlens keep)')
      return vim.NIL
    end,
    ['skewlens/resultsChanged'] = function(_, _, ctx)
      require('skewlens.heat').refresh()
      local c = vim.lsp.get_client_by_id(ctx.client_id)
      if not c or vim.fn.getqflist({ title = 0 }).title ~= list_title then
        return
      end
      M.list(c, function(items)
        local at = vim.fn.getqflist({ idx = 0 }).idx -- it comes after edits too: keep the place
        vim.fn.setqflist({}, 'r', { title = list_title, items = items, idx = #items > 0 and math.min(at, #items) or nil })
      end)
    end,
    ['window/logMessage'] = function(_, params)
      for _, line in ipairs(vim.split(params.message, '\n', { trimempty = true })) do
        table.insert(log, line)
      end
      if #log > 5000 then
        log = vim.list_slice(log, #log - 4000)
      end
    end,
    -- A report opens in the browser. Where there is none (over SSH, say) its
    -- address is still told.
    ['window/showDocument'] = function(err, params, ctx, config)
      if not params.external then
        return vim.lsp.handlers['window/showDocument'](err, params, ctx, config)
      end
      local ok, _, problem = pcall(vim.ui.open, params.uri)
      M.report_uri = params.uri
      vim.notify('skewlens: ' .. (ok and not problem and 'opened ' or 'open this in a browser: ') .. params.uri)
      return { success = ok and not problem }
    end,
  }
  if not vim.lsp.codelens.enable then -- before 0.12
    h['workspace/codeLens/refresh'] = function(_, _, ctx)
      each_buffer(ctx, refresh_codelens)
      return vim.NIL
    end
  end
  return h
end

local function on_attach(c, bufnr)
  local o = M.options()
  if o.heat then
    require('skewlens.heat').draw(c, bufnr)
  end
  if o.inlay_hints then
    vim.lsp.inlay_hint.enable(true, { bufnr = bufnr })
  end
  if not o.codelens then
    return
  end
  if vim.lsp.codelens.enable then
    vim.lsp.codelens.enable(true, { bufnr = bufnr })
    return
  end
  refresh_codelens(bufnr)
  vim.api.nvim_create_autocmd({ 'BufEnter', 'InsertLeave', 'TextChanged', 'BufWritePost' }, {
    group = vim.api.nvim_create_augroup('skewlens_codelens_' .. bufnr, {}),
    buffer = bufnr,
    callback = function()
      refresh_codelens(bufnr)
    end,
  })
end

--- config is the client's configuration, for vim.lsp.config and vim.lsp.start.
function M.config()
  local o = M.options()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.workspace.codeLens = { refreshSupport = true }
  capabilities.workspace.inlayHint = { refreshSupport = true }
  return {
    name = 'skewlens',
    -- A function, for Neovim would pass over a program that is not there in silence.
    cmd = function(dispatchers)
      return vim.lsp.rpc.start(M.server() or { 'skewlens', 'serve' }, dispatchers)
    end,
    filetypes = o.filetypes,
    -- 0.11 and later call this; without a call of on_dir no server is started.
    root_dir = function(bufnr, on_dir)
      local dir = root(bufnr)
      if dir and M.server() then
        on_dir(dir)
      elseif dir and not told then
        told = true
        missing(vim.log.levels.WARN)
      end
    end,
    capabilities = capabilities,
    init_options = { resultsChanged = true, answers = true },
    handlers = handlers(),
    commands = commands(),
    on_attach = on_attach,
  }
end

--- start attaches the server to a buffer, where vim.lsp.enable is not there yet.
function M.start(bufnr)
  local config = M.config()
  config.root_dir(bufnr, function(dir)
    config.root_dir = dir
    vim.lsp.start(config, { bufnr = bufnr })
  end)
end

function M.enable()
  local group = vim.api.nvim_create_augroup('skewlens', {})
  vim.api.nvim_create_autocmd('LspProgress', { group = group, callback = M.on_progress })
  vim.api.nvim_create_autocmd('LspDetach', {
    group = group,
    callback = function(event)
      for token, run in pairs(runs) do
        if run.client == event.data.client_id then
          runs[token] = nil
        end
      end
    end,
  })
  if vim.lsp.enable then
    vim.lsp.enable('skewlens') -- lsp/skewlens.lua is its configuration
    return
  end
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = M.options().filetypes,
    callback = function(event)
      M.start(event.buf)
    end,
  })
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do -- those that were there before us
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.tbl_contains(M.options().filetypes, vim.bo[bufnr].filetype) then
      M.start(bufnr)
    end
  end
end

--- on_progress remembers what runs and shows it on one line.
function M.on_progress(event)
  local c = vim.lsp.get_client_by_id(event.data.client_id)
  if not c or c.name ~= 'skewlens' then
    return
  end
  local token, value = event.data.params.token, event.data.params.value
  local run = runs[token] or { client = c.id }
  run.title = value.title or run.title
  run.percentage = value.percentage or run.percentage
  run.cancellable = vim.F.if_nil(value.cancellable, run.cancellable)
  local parts = { 'skewlens: ' .. (run.title or 'working') }
  if value.kind ~= 'end' and run.percentage then
    table.insert(parts, ('%d %%'):format(run.percentage))
  end
  if value.message and value.message ~= '' then
    table.insert(parts, value.message)
  end
  local text = table.concat(parts, ' · ')
  if value.kind == 'end' then
    runs[token] = nil
  else
    runs[token] = run
    run.text = text
    if run.cancellable then
      text = text .. '  (:Skewlens cancel)'
    end
  end
  if M.options().progress then
    -- Longer than the message area would ask for Enter.
    text = vim.fn.strcharpart(text:gsub('\n', ' '), 0, math.max(vim.v.echospace - 1, 20))
    vim.api.nvim_echo({ { text } }, value.kind == 'end', {})
    vim.cmd.redraw()
  end
end

--- status is for a status line: what runs now, or nothing.
function M.status()
  for _, run in pairs(runs) do
    return run.text or ''
  end
  return ''
end

--- running says whether the server reports progress just now.
function M.running()
  return next(runs) ~= nil
end

--- list asks for the causes of all targets, in the server's order, as items of
--- a quickfix list.
function M.list(c, done)
  M.execute(c, 'skewlens.causes', {}, nil, function(result)
    local items = {}
    for _, target in ipairs(result.targets or {}) do
      for _, section in ipairs(target.sections or {}) do
        for _, cause in ipairs(section.causes or {}) do
          if cause.uri and cause.range then
            local item = vim.lsp.util.locations_to_items({ cause }, c.offset_encoding)[1]
            if item then
              item.text, item.type = cause.message, 'W'
              table.insert(items, item)
            end
          else -- it stands on no line: the row says why
            table.insert(items, { text = ('%s (%s)'):format(cause.message, cause.why or 'no line is known'), type = 'W', valid = 0 })
          end
        end
      end
    end
    done(items)
  end)
end

local function here()
  return { uri = vim.uri_from_bufnr(0), line = vim.api.nvim_win_get_cursor(0)[1] - 1 }
end

local act = {}

--- profile runs the section whose lens is nearest to the cursor; with 'target',
--- or in a file without sections, all of the program.
function act.profile(c, what, name)
  local bufnr, at = vim.api.nvim_get_current_buf(), here()
  local function target()
    M.execute(c, 'skewlens.profileTarget', { { uri = at.uri, target = name } }, bufnr)
  end
  if what == 'target' then
    return target()
  end
  local params = { textDocument = vim.lsp.util.make_text_document_params(bufnr) }
  request(c, 'textDocument/codeLens', params, function(_, lenses)
    local best, distance
    for _, lens in ipairs(lenses or {}) do
      local away = math.abs(lens.range.start.line - at.line)
      if lens.command and lens.command.command == 'skewlens.profileSection' and away < (distance or math.huge) then
        best, distance = lens.command, away
      end
    end
    if best then
      M.execute(c, best.command, best.arguments, bufnr)
    else
      target()
    end
  end, bufnr)
end

--- speedup times the program on one core and more.
function act.speedup(c, name)
  M.execute(c, 'skewlens.scaleTarget', { { uri = here().uri, target = name } }, vim.api.nvim_get_current_buf())
end

function act.causes(c)
  M.list(c, function(items)
    vim.fn.setqflist({}, ' ', { title = list_title, items = items })
    if #items == 0 then
      vim.notify('skewlens: no causes are known. :Skewlens profile looks for them')
      return
    end
    vim.cmd('botright copen ' .. math.min(#items + 1, 10))
  end)
end

--- pick lets a cause be chosen and goes there: with Telescope or fzf-lua, where one
--- is installed, else with vim.ui.select.
function act.pick(c)
  M.list(c, function(items)
    if #items == 0 then
      vim.notify('skewlens: no causes are known. :Skewlens profile looks for them')
      return
    end
    vim.fn.setqflist({}, ' ', { title = list_title, items = items })
    local telescope, builtin = pcall(require, 'telescope.builtin')
    local fzf, fzf_lua = pcall(require, 'fzf-lua')
    if telescope then
      builtin.quickfix({ prompt_title = list_title })
    elseif fzf then
      fzf_lua.quickfix()
    else
      vim.ui.select(items, {
        prompt = list_title,
        format_item = function(item)
          return (item.text:gsub('\n.*', ''))
        end,
      }, function(_, index)
        if index then
          vim.cmd('cc ' .. index)
        end
      end)
    end
  end)
end

--- cancel ends every run. Neovim has no button for it.
function act.cancel(c)
  M.execute(c, 'skewlens.cancel', {})
end

--- finish ends the program as Ctrl-C does; the run is reported up to there.
function act.finish(c)
  M.execute(c, 'skewlens.finish', {})
end

function act.next(c)
  M.execute(c, 'skewlens.nextCause', { here() }, vim.api.nvim_get_current_buf())
end

function act.report(c)
  M.execute(c, 'skewlens.openReport', { here() })
end

function act.compare(c)
  M.execute(c, 'skewlens.compare', { here() })
end

--- explain shows what the kind of the cause on this line means.
function act.explain(c)
  M.execute(c, 'skewlens.explain', { here() })
end

--- heat turns the signs of where the work is on or off.
function act.heat()
  require('skewlens.heat').toggle()
end

--- keep writes down, in .skewlens.toml, what is run for this file.
function act.keep(c)
  M.execute(c, 'skewlens.remember', { here() }, nil, function(answer)
    vim.cmd.edit(vim.fn.fnameescape(vim.uri_to_fname(answer.uri)))
  end)
end

function act.clear(c)
  M.execute(c, 'skewlens.clear', {})
end

--- log shows what the server and the program have printed.
function act.log()
  vim.cmd('botright 12new')
  vim.api.nvim_buf_set_lines(0, 0, -1, false, log)
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile, vim.bo.modified = 'nofile', 'wipe', false, false
  vim.cmd('normal! G')
end

function M.command(args)
  local name = args[1]
  if not act[name] then
    vim.notify('skewlens: no command is called ' .. name .. '; see :help :Skewlens', vim.log.levels.ERROR)
    return
  end
  local c = client(vim.api.nvim_get_current_buf())
  if not c and name ~= 'log' then
    if M.server() then
      vim.notify('skewlens: no server runs for this file; see :checkhealth skewlens', vim.log.levels.WARN)
    else
      missing(vim.log.levels.ERROR)
    end
    return
  end
  act[name](c, args[2], args[3])
end

--- targets returns the names of what can be profiled, or none in half a second.
function M.targets()
  local c, names = client(vim.api.nvim_get_current_buf()), nil
  if not c then
    return {}
  end
  M.execute(c, 'skewlens.targets', {}, nil, function(targets)
    names = vim.tbl_map(function(t)
      return t.name
    end, targets)
  end)
  vim.wait(500, function()
    return names
  end, 10)
  return names or {}
end

function M.complete(lead, line)
  local words = vim.tbl_keys(act)
  if line:match('^%s*%S+%s+profile%s+target%s') or line:match('^%s*%S+%s+speedup%s') then
    words = M.targets()
  elseif line:match('^%s*%S+%s+profile%s') then
    words = { 'section', 'target' }
  elseif line:match('^%s*%S+%s+%S+%s') then
    words = {}
  end
  table.sort(words)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
end

return M
