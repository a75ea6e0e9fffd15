if vim.g.loaded_skewlens then
  return
end
vim.g.loaded_skewlens = 1

if vim.fn.has('nvim-0.10') == 0 then
  vim.notify('skewlens needs Neovim 0.10 or later', vim.log.levels.WARN)
  return
end

vim.api.nvim_create_user_command('Skewlens', function(o)
  require('skewlens').command(o.fargs)
end, {
  nargs = '+',
  desc = 'Find the lines that cause load imbalance',
  complete = function(lead, line)
    return require('skewlens').complete(lead, line)
  end,
})

for _, name in ipairs({ 'profile', 'causes', 'pick', 'next', 'report', 'compare', 'heat', 'cancel' }) do
  vim.keymap.set('n', '<Plug>(skewlens-' .. name .. ')', '<Cmd>Skewlens ' .. name .. '<CR>', { desc = 'skewlens: ' .. name })
end

require('skewlens').enable()
