#!/usr/bin/env bash
# Builds dist/skewlens.vsix. Needs Node 20 or later with npm.
#   code --install-extension dist/skewlens.vsix
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
npm ci --no-audit --no-fund --ignore-scripts
npm run --silent package
