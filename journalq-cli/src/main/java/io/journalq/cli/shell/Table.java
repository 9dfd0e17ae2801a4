package io.journalq.cli.shell;

import java.util.ArrayList;
import java.util.List;

/** A table with a header and rows. Columns are as wide as their widest cell; numbers are right-aligned. */
public final class Table {
    private static final String GAP = "  ";

    private final List<String> headings;
    private final List<List<String>> rows = new ArrayList<>();

    public Table(String... headings) {
        this.headings = List.of(headings);
    }

    /** Adds a row. A missing value is shown as a dash. */
    public Table row(Object... cells) {
        List<String> row = new ArrayList<>(cells.length);
        for (Object cell : cells) {
            row.add(cell == null || cell.toString().isEmpty() ? "-" : Terminal.printable(cell.toString()));
        }
        rows.add(row);
        return this;
    }

    /** Prints the header and the rows. */
    public void printTo(Terminal terminal) {
        int[] widths = new int[headings.size()];
        boolean[] numeric = new boolean[headings.size()];
        for (int column = 0; column < widths.length; column++) {
            widths[column] = headings.get(column).length();
            numeric[column] = !rows.isEmpty();
            for (List<String> row : rows) {
                widths[column] = Math.max(widths[column], row.get(column).length());
                numeric[column] &= isNumber(row.get(column));
            }
        }
        terminal.printLine(line(headings, widths, numeric));
        for (List<String> row : rows) {
            terminal.printLine(line(row, widths, numeric));
        }
    }

    private static String line(List<String> cells, int[] widths, boolean[] numeric) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < widths.length; column++) {
            String cell = cells.get(column);
            String padding = " ".repeat(widths[column] - cell.length());
            line.append(column == 0 ? "" : GAP);
            line.append(numeric[column] ? padding + cell : cell + padding);
        }
        return line.toString().stripTrailing();
    }

    private static boolean isNumber(String cell) {
        return cell.equals("-")
                || Character.isDigit(cell.charAt(0))
                || (cell.length() > 1 && cell.charAt(0) == '-' && Character.isDigit(cell.charAt(1)));
    }
}
