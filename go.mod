module github.com/skewlens/skewlens

go 1.24
