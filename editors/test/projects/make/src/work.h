double work(int rows);
