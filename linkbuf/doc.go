package linkbuf
