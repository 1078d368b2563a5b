/** Numbers written as words. */

/** Words that add to a number: "twenty" and "five" in "twenty-five". */
export const addends = new Map<string, number>(
  Object.entries({
    zero: 0,
    two: 2,
    three: 3,
    four: 4,
    five: 5,
    six: 6,
    seven: 7,
    eight: 8,
    nine: 9,
    ten: 10,
    eleven: 11,
    twelve: 12,
    thirteen: 13,
    fourteen: 14,
    fifteen: 15,
    sixteen: 16,
    seventeen: 17,
    eighteen: 18,
    nineteen: 19,
    twenty: 20,
    thirty: 30,
    forty: 40,
    fourty: 40,
    fifty: 50,
    sixty: 60,
    seventy: 70,
    eighty: 80,
    ninety: 90,
    half: 0.5,
    twice: 2,
  }),
)

/** Words that multiply what stands before them: "5 million". */
export const scales = new Map<string, number>(
  Object.entries({
    dozen: 12,
    hundred: 100,
    thousand: 1e3,
    lakh: 1e5,
    million: 1e6,
    mn: 1e6,
    crore: 1e7,
    billion: 1e9,
    bn: 1e9,
    trillion: 1e12,
  }),
)

/** Letters that multiply the digits they are attached to: "10k". "5m" may be metres, so it is not here. */
export const attachedScales = new Map<string, number>(Object.entries({ k: 1e3, bn: 1e9, mn: 1e6 }))

/** Ordinals as words; "first" also stands for "at first", which asks for the same mistake when ignored. */
export const ordinals = new Map<string, number>(
  Object.entries({
    first: 1,
    second: 2,
    third: 3,
    fourth: 4,
    fifth: 5,
    sixth: 6,
    seventh: 7,
    eighth: 8,
    ninth: 9,
    tenth: 10,
    eleventh: 11,
    twelfth: 12,
    twentieth: 20,
  }),
)

/** Roman numerals, read as numbers after a capitalised word: "Henry VIII", "World War II". */
export const romanNumerals = new Map<string, number>(
  Object.entries({
    II: 2,
    III: 3,
    IV: 4,
    V: 5,
    VI: 6,
    VII: 7,
    VIII: 8,
    IX: 9,
    X: 10,
    XI: 11,
    XII: 12,
    XIII: 13,
    XIV: 14,
    XV: 15,
    XVI: 16,
  }),
)

/** After one of these "I" is the numeral, not the speaker: "World War I". */
export const beforeRomanOne = new Set(
  'war part chapter volume type phase class act schedule tier level stage book vol'.split(' '),
)
