/** Chosen for a few pictures a second, where an animal moves by its own length between two pictures. */
export const TRACKING = { confirmAfter: 3, buffer: 0.3, keepLostMs: 1_500 }
/** A sighting below this share of the score continues a track and never begins one. */
export const HIGH_SHARE = 0.8
