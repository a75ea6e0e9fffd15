int serve_all(int n);
int main(void) { return serve_all(5) + serve_all(3); }
