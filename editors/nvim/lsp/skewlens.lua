-- Neovim 0.11 and later read this for vim.lsp.enable('skewlens') and lay what
-- the user gives to vim.lsp.config('skewlens', …) over it.
return require('skewlens').config()
