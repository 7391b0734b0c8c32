package steps

// Counting reports whether this program was built with an [Overlay].
const Counting = false
