/** Matches a sentence about the state of a key or of its holder, such as "account suspended for violating our terms", in either order. */

const STATE = 'suspended|deactivated|disabled|revoked|banned|leaked|expired|terminated|restricted|blocked|on hold'
const HOLDER = 'key|account|organi[sz]ation|team|workspace|user|your access|billing|credentials?'

export const ACCOUNT_BLOCKED_PATTERN = `\\b(?:${HOLDER})\\b[^.\\n]{0,60}\\b(?:${STATE})\\b|\\b(?:${STATE})\\b[^.\\n]{0,30}\\b(?:${HOLDER})\\b`
