#include "work.h"

double work(int rows) {
    double sum = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < i; j++)
            sum += 1.0 / (i + j + 1);
    return sum;
}
