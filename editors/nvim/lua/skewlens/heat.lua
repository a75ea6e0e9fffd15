--- Where the work is: a sign beside each line, the stronger the more of its section's
--- instructions it has. Off until `:Skewlens heat` or the option turns it on.
local M = {}

local space = vim.api.nvim_create_namespace('skewlens_heat')
local steps = { 0, 0.02, 0.05, 0.15, 0.4 } -- from these shares on, a sign is one step stronger
local colours = { '#6b4a3d', '#8c5540', '#ad6043', '#d06b45', '#f47748' }
local on

function M.enabled()
  if on == nil then
    on = require('skewlens').options().heat
  end
  return on
end

local function step(share)
  for i = #steps, 1, -1 do
    if share >= steps[i] then
      return i
    end
  end
  return 1
end

--- draw asks what there is to show of a buffer, and shows that.
function M.draw(client, bufnr)
  if not M.enabled() then
    vim.api.nvim_buf_clear_namespace(bufnr, space, 0, -1)
    return
  end
  require('skewlens').execute(client, 'skewlens.heat', { { uri = vim.uri_from_bufnr(bufnr) } }, bufnr, function(answer)
    if not vim.api.nvim_buf_is_loaded(bufnr) or not M.enabled() then
      return
    end
    vim.api.nvim_buf_clear_namespace(bufnr, space, 0, -1)
    local last = vim.api.nvim_buf_line_count(bufnr)
    for _, l in ipairs(answer and answer.lines or {}) do
      if l.line < last then
        local group = 'SkewlensHeat' .. step(l.share)
        vim.api.nvim_buf_set_extmark(bufnr, space, l.line, 0, { sign_text = '▐', sign_hl_group = group, priority = 5 })
      end
    end
  end)
end

local function all()
  for _, c in ipairs(vim.lsp.get_clients({ name = 'skewlens' })) do
    for bufnr in pairs(c.attached_buffers) do
      if vim.api.nvim_buf_is_loaded(bufnr) then
        M.draw(c, bufnr)
      end
    end
  end
end

--- refresh shows anew what results say now.
function M.refresh()
  if M.enabled() then
    all()
  end
end

function M.toggle()
  on = not M.enabled()
  all()
end

for i, colour in ipairs(colours) do
  vim.api.nvim_set_hl(0, 'SkewlensHeat' .. i, { fg = colour, ctermfg = 'Red', default = true })
end

return M
