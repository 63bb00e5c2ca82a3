/** At a few pictures a second, an animal moves by its own length from one picture to the next. */
export const TRACKING = { confirmAfter: 3, buffer: 0.3, keepLostMs: 1_500 }
/** A weaker look continues a track and never begins one. */
export const HIGH_SHARE = 0.8
