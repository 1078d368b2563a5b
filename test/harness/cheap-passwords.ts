/** Hashes passwords at the lowest cost of argon2. The proxy's own cost is high on purpose; a login uses the cost that the hash contains. */
const CHEAP = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const

Bun.password.hash = async password => Bun.password.hashSync(password, CHEAP)
