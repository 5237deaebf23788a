-- Nothing looks for contents by their size since the sum of all is kept; each commit wrote its pages.
DROP INDEX blobs_size;
