"""Reports: figures drawn by hand as SVG, in one page that needs no network."""
