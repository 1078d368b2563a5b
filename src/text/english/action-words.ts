/** Verbs whose requests change something in the world. */
import { wordSet } from '../token.ts'

/** They ask for an action when they name something of the user's: "close my account", "transfer $500". */
export const actionVerbs = wordSet(`
  cancel close shut stop open transfer move send wire pay buy sell order book reserve schedule reschedule postpone cancel delete remove
  erase block unblock freeze unfreeze lock unlock activate deactivate enable disable subscribe unsubscribe upgrade downgrade renew
  refund return reimburse dispute report replace reset change update modify increase raise decrease lower reduce withdraw deposit
  redeem apply enroll enrol register submit file approve reject confirm accept decline assign invite add call text email message
  notify remind ship deliver track place make post publish share upload restart reboot deploy rollback merge revert terminate
  suspend resume pause extend waive charge debit credit dispatch forward reply archive mute turn switch set start play
  connect disconnect link unlink verify sign log
`)

/** They ask for an action with one of `actionObjects`, whoever owns it: "set an alarm". */
export const alwaysActed = wordSet('set turn switch play dim start stop snooze call order book remind')

export const actionObjects = wordSet(
  'alarm timer reminder light lights thermostat music playlist heating heater lamp fan tv taxi cab uber ambulance pizza table me',
)
