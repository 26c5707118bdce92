// Whole numbers of any size. Everything between a secret and its report is one of these.

/** How many binary digits a non-negative BigInt has. */
export function bitLength(n) {
  if (n === 0n) return 0;
  const digits = n.toString(16);
  return 4 * (digits.length - 1) + (32 - Math.clz32(parseInt(digits[0], 16)));
}

/** How many binary ones a non-negative BigInt has. */
export function bitCount(n) {
  let ones = 0;
  for (const digit of n.toString(16)) ones += "0112122312232334"[parseInt(digit, 16)] | 0;
  return ones;
}

/** floor(a / b) for b > 0, also for negative a: BigInt division itself rounds toward zero. */
export function floorDiv(a, b) {
  const found = a / b;
  return a % b < 0n ? found - 1n : found;
}

/** a - b * floor(a / b) for b > 0. */
export function modulo(a, b) {
  const rest = a % b;
  return rest < 0n ? rest + b : rest;
}

/** The greatest common divisor of two non-negative BigInts. */
export function gcd(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}

/** The least common multiple of a list. */
export function lcm(numbers) {
  return numbers.reduce((a, b) => (a / gcd(a, b)) * b, 1n);
}

/** The largest integer whose square is at most n. */
export function isqrt(n) {
  if (n < 2n) return n;
  let root = 1n << BigInt((bitLength(n) + 1) >> 1);
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** How many subsets of `chosen` out of `size` there are. */
export function combinations(size, chosen) {
  if (chosen < 0n || chosen > size) return 0n;
  const few = chosen < size - chosen ? chosen : size - chosen;
  let found = 1n;
  for (let k = 1n; k <= few; k++) found = (found * (size - few + k)) / k;
  return found;
}

/** Mixed-radix digits, most significant first. */
export function digits(number, radices) {
  const found = new Array(radices.length);
  for (let place = radices.length - 1; place >= 0; place--) {
    found[place] = number % radices[place];
    number /= radices[place];
  }
  return found;
}

/** The number with these mixed-radix digits. */
export function undigits(parts, radices) {
  return parts.reduce((number, digit, place) => number * radices[place] + digit, 0n);
}

/** Running sums. */
export function accumulate(weights) {
  let sum = 0n;
  return weights.map((weight) => (sum += weight));
}

/** How many entries of a growing list are at most `wanted`. */
export function bisectRight(growing, wanted) {
  let low = 0;
  let high = growing.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (wanted < growing[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}
