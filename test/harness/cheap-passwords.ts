/** Hashes passwords as cheaply as argon2 can: the proxy's own hashes are meant to be slow, and a login takes what its hash says. */
const CHEAP = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const

Bun.password.hash = async password => Bun.password.hashSync(password, CHEAP)
