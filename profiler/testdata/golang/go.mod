module golang

go 1.22
