-- What a person with nothing else configured would have.
vim.opt.rtp:prepend(vim.env.SKEWLENS_PLUGIN)
vim.o.number, vim.o.signcolumn, vim.o.swapfile, vim.o.termguicolors = true, 'yes', false, true
vim.o.statusline = "%f %= %{v:lua.require'skewlens'.status()}"
vim.diagnostic.config({ virtual_text = vim.fn.has('nvim-0.11') == 0, virtual_lines = vim.fn.has('nvim-0.11') == 1 and { current_line = true } or nil, severity_sort = true })
