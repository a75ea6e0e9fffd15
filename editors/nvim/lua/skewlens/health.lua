local M = {}

local function run(cmd)
  local ok, result = pcall(function()
    return vim.system(cmd, { text = true }):wait(10000)
  end)
  if not ok then
    return nil, tostring(result)
  end
  return result, vim.trim((result.stdout or '') .. (result.stderr or ''))
end

function M.check()
  local health, skewlens = vim.health, require('skewlens')
  health.start('skewlens')
  health.ok('Neovim ' .. tostring(vim.version()))

  local cmd = skewlens.server()
  if not cmd then
    health.error('the server was not found in PATH, GOBIN or GOPATH/bin', {
      'Install it: ' .. skewlens.install_hint,
      "or name it: vim.g.skewlens = { cmd = { '/path/to/skewlens', 'serve' } }",
    })
    return
  end
  local result, text = run({ cmd[1], 'version' })
  if not result or result.code ~= 0 then
    health.error(cmd[1] .. ' does not start: ' .. text)
    return
  end
  health.ok(vim.fn.exepath(cmd[1]) .. ': ' .. vim.split(text, '\n')[1])

  local clients = vim.lsp.get_clients({ name = 'skewlens' })
  if #clients == 0 then
    health.info('the server does not run: it starts when a C, C++, Fortran, Go or Rust file is opened')
  end
  for _, c in ipairs(clients) do
    local dir = c.config.root_dir
    health.ok(('the server runs for %s (%d buffers)'):format(dir or '?', vim.tbl_count(c.attached_buffers)))
    if dir and not vim.uv.fs_stat(dir .. '/.skewlens.toml') and not vim.uv.fs_stat(dir .. '/.vscode/launch.json') then
      health.warn('nothing there says which program to profile', 'Write ' .. dir .. '/.skewlens.toml; see :help skewlens-target')
    end
  end

  health.start('skewlens doctor: what this machine allows')
  result, text = run({ cmd[1], 'doctor' })
  for _, line in ipairs(vim.split(text or '', '\n', { trimempty = true })) do
    health.info(line)
  end
  if result and result.code ~= 0 then
    health.warn('skewlens doctor found something to fix: see above')
  end
end

return M
