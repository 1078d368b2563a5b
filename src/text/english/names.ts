/**
 * English names without another meaning in lower case. Polish, Turkey, China, March, May, Reading, Nice, Apple, Java, Go, Swift, Rust,
 * Ruby, Amazon, Meta, Oracle, Morocco, Panama, Ubuntu, Einstein and the like are left out on purpose: in lower case they mean something
 * else.
 */
import { lowerKey } from '../phrases.ts'
import { rewrite, type Token, wordSet } from '../token.ts'

const places = `
  Afghanistan Albania Algeria Angola Argentina Armenia Australia Austria Azerbaijan Bangladesh Belarus Belgium Bolivia Botswana Brazil
  Bulgaria Cambodia Cameroon Canada Colombia Croatia Denmark Ecuador Egypt Estonia Ethiopia Finland France Germany Ghana
  Greece Guatemala Haiti Honduras Hungary Iceland India Indonesia Iran Iraq Ireland Israel Italy Jamaica Kazakhstan Kenya
  Korea Kuwait Laos Latvia Lebanon Libya Lithuania Luxembourg Malaysia Mexico Moldova Mongolia Mozambique Myanmar Namibia Nepal
  Netherlands Nicaragua Nigeria Norway Pakistan Palestine Paraguay Peru Philippines Poland Portugal Qatar Romania Russia Rwanda
  Scotland Senegal Serbia Singapore Slovakia Slovenia Somalia Spain Sudan Sweden Switzerland Syria Taiwan Tanzania Thailand Tunisia
  Uganda Ukraine Uruguay Uzbekistan Venezuela Vietnam Yemen Zambia Zimbabwe England Wales Europe Africa Asia America Antarctica
  Amsterdam Athens Atlanta Baghdad Bangalore Bangkok Barcelona Beijing Berlin Bombay Boston Brussels Bucharest Budapest Cairo Calcutta
  Chennai Chicago Copenhagen Dallas Delhi Denver Detroit Dubai Dublin Edinburgh Florence Frankfurt Geneva Hamburg Helsinki Houston
  Hyderabad Istanbul Jakarta Jerusalem Johannesburg Karachi Kiev Kyiv Kolkata Lisbon London Madrid Manchester Melbourne Miami Milan
  Montreal Moscow Mumbai Munich Nairobi Naples Oslo Paris Philadelphia Prague Pune Rome Seattle Seoul Shanghai Stockholm Sydney Tehran
  Tokyo Toronto Vancouver Venice Vienna Warsaw Zurich California Texas Florida Virginia Ohio Illinois Alaska Hawaii Arizona Nevada
  Colorado Massachusetts Pennsylvania Kerala Gujarat Punjab Maharashtra Kashmir
`
const peoples = `
  French German Spanish Italian Portuguese Russian Japanese Korean Hindi Arabic Dutch Swedish Norwegian Greek Turkish Hungarian
  Czech Ukrainian Vietnamese Hebrew Indonesian Malay Bengali Tamil Telugu Urdu Punjabi Swahili English
  American British Canadian Australian Indian Mexican Brazilian African European Asian Irish Scottish
  Muslim Muslims Hindu Hindus Jewish Buddhist Americans Indians Europeans Italians Germans
`
const calendar = `
  Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February April June July September October November December
  Christmas Halloween Ramadan Diwali Hanukkah
`
const makers = `
  Google Microsoft Facebook Instagram Netflix Spotify Samsung Toyota Nokia Sony Nvidia Airbnb Reddit Quora Tumblr Pinterest
  Wikipedia Debian Kubernetes Gmail Skype Dropbox Obama Shakespeare
`
/** Names with a capital inside: all spellings count as one. */
const inner = `
  jQuery JavaScript TypeScript PostgreSQL MySQL SQLite MongoDB GitHub GitLab YouTube LinkedIn WhatsApp PayPal eBay iPhone iPhones iPad
  iPads iOS macOS MacBook WordPress OpenAI ChatGPT PowerPoint GraphQL FastAPI NumPy PyTorch TensorFlow AutoCAD
  TikTok IntelliJ DevOps WiFi PlayStation
`

/** Acronyms that are no word in lower case: "html", "HTML". With only an initial capital they may be a name: Mr Seo. */
const acronyms = `
  NASA FBI CIA NATO NBA NFL NHL FIFA HTML CSS SQL PHP XML JSON URL USB CPU GPU DNA RNA HIV GDP MBA GMAT GRE UPSC IELTS TOEFL JEE NEET
  IIT IIM IBM BMW UFO ADHD OCD PTSD HTTP HTTPS FTP DNS VPN SEO CEO CFO GPS DVD IQ SSC IAS CGL IBPS RBI CBSE NCERT KVPY ISRO
  GST
`

const capitalised = wordSet(places + peoples + calendar + makers)
const small: ReadonlyMap<string, string> = new Map(
  [...capitalised, ...wordSet(acronyms)].flatMap(name => [
    [name, name.toLowerCase()],
    [`${name}'s`, `${name.toLowerCase()}'s`],
  ]),
)
const anyCase: ReadonlySet<string> = new Set([...wordSet(inner)].map(name => name.toLowerCase()))
const innerForms: ReadonlySet<string> = new Set(
  [...wordSet(inner)].flatMap(name => [
    name,
    name.toLowerCase(),
    `${name[0]?.toUpperCase()}${name.slice(1)}`,
    `${name[0]?.toUpperCase()}${name.slice(1).toLowerCase()}`,
  ]),
)

/** An identifier follows these words: "import html" and "import HTML" differ. */
const beforeIdentifiers = wordSet(
  'import imports require include includes from new class def function const let var module namespace struct enum extends package keyword',
)

/** Returns a known name in lower case, if it has one of its spellings; in capitals throughout it may be an acronym. */
export function writeName(token: Token, at: number, all: readonly Token[]): Token {
  if (token.kind !== 'word' || isIdentifier(all, at)) return token
  const lower = small.get(token.key)
  if (lower !== undefined) return rewrite(token, lower, 'known-name')
  const isKnown = innerForms.has(token.key) && anyCase.has(token.key.toLowerCase())
  return isKnown ? rewrite(token, token.key.toLowerCase(), 'known-name') : token
}

/** "from" precedes an identifier only beside "import", unlike in "learn from Google". */
function isIdentifier(all: readonly Token[], at: number): boolean {
  const before = lowerKey(all[at - 1])
  return beforeIdentifiers.has(before) && (before !== 'from' || all.some(token => lowerKey(token) === 'import'))
}
