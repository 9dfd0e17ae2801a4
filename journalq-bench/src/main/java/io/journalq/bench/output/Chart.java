package io.journalq.bench.output;

import io.journalq.bench.BenchException;
import java.awt.Color;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * A picture of lines over a number, or of bars over names. Requires fonts, but no display.
 *
 * @param categories names of the bars; null for lines
 * @param logarithmic whether the y-axis is logarithmic
 */
public record Chart(
        String title, String xTitle, String yTitle, List<String> categories, boolean logarithmic, List<Series> series) {

    private static final int WIDTH_PX = 900;
    private static final int HEIGHT_PX = 420;
    /** A chart with more categories is wider. */
    private static final int ROOMY_CATEGORIES = 9;

    /** If the names of all bars together are longer, they are rotated. */
    private static final int ROOMY_LETTERS = 90;

    private static final int WIDTH_OF_CATEGORY_PX = 40;
    private static final int LABEL_ROTATION_DEGREES = 60;

    /** For a phone: a wide chart would shrink until it is unreadable. */
    private static final int NARROW_WIDTH_PX = 360;

    private static final int NARROW_HEIGHT_PX = 340;
    private static final int ROOMY_LETTERS_WHEN_NARROW = 30;

    /** Colours that people who see red and green alike can tell apart (Okabe and Ito). */
    private static final Color[] COLOURS = {
        new Color(0x0072B2),
        new Color(0xD55E00),
        new Color(0x009E73),
        new Color(0xCC79A7),
        new Color(0xE69F00),
        new Color(0x56B4E9)
    };

    /** Where a chart is shown. */
    private enum Place {
        FILE,
        PAGE,
        NARROW_PAGE
    }

    /**
     * A line, or the bars of one colour.
     *
     * @param xs positions of the values; not used for bars
     * @param ys values, one for each of {@code xs} or of the categories
     */
    public record Series(String name, List<Double> xs, List<Double> ys) {}

    /** A chart of lines over a number. */
    public static Chart lines(String title, String xTitle, String yTitle, List<Series> series) {
        return new Chart(title, xTitle, yTitle, null, false, series);
    }

    /** A chart of groups of bars. */
    public static Chart bars(String title, String xTitle, String yTitle, List<String> categories, List<Series> series) {
        return new Chart(title, xTitle, yTitle, categories, false, series);
    }

    /** The same chart with a logarithmic y-axis; all values must be above 0. */
    public Chart byFactorsOfTen() {
        return new Chart(title, xTitle, yTitle, categories, true, series);
    }

    public void writePng(Path file) {
        try {
            Files.write(file, BitmapEncoder.getBitmapBytes(drawn(Place.FILE), BitmapEncoder.BitmapFormat.PNG));
        } catch (IOException e) {
            throw new BenchException("cannot write " + file, "use a writable directory", e);
        }
    }

    /** The chart as an {@code svg} element of a page, which shows the title. */
    public String svg() {
        return svg(Place.PAGE);
    }

    /** The chart as an {@code svg} element for a narrow page. */
    public String narrowSvg() {
        return svg(Place.NARROW_PAGE);
    }

    private String svg(Place place) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            VectorGraphicsEncoder.saveVectorGraphic(drawn(place), out, VectorGraphicsEncoder.VectorGraphicsFormat.SVG);
        } catch (IOException e) {
            throw new IllegalStateException("writing to memory failed", e);
        }
        String text = out.toString(StandardCharsets.UTF_8);
        return text.substring(text.indexOf("<svg"));
    }

    private org.knowm.xchart.internal.chartpart.Chart<?, ?> drawn(Place place) {
        System.setProperty("java.awt.headless", "true");
        try {
            return categories == null ? drawnLines(place) : drawnBars(place);
        } catch (LinkageError | InternalError noFonts) {
            throw new BenchException(
                    "cannot draw charts on this machine", "install a font, such as fonts-dejavu-core", noFonts);
        }
    }

    private XYChart drawnLines(Place place) {
        XYChart chart = new XYChartBuilder()
                .width(place == Place.NARROW_PAGE ? NARROW_WIDTH_PX : WIDTH_PX)
                .height(place == Place.NARROW_PAGE ? NARROW_HEIGHT_PX : HEIGHT_PX)
                .title(title)
                .xAxisTitle(xTitle)
                .yAxisTitle(yTitle)
                .build();
        style(chart.getStyler(), place);
        for (Series one : series) {
            if (!one.ys().isEmpty()) {
                chart.addSeries(one.name(), one.xs(), one.ys())
                        .setMarker(one.ys().size() > 1 ? SeriesMarkers.NONE : SeriesMarkers.CIRCLE);
            }
        }
        return chart;
    }

    private CategoryChart drawnBars(Place place) {
        boolean narrow = place == Place.NARROW_PAGE;
        CategoryChart chart = new CategoryChartBuilder()
                .width(narrow ? NARROW_WIDTH_PX : widthOfBars())
                .height(narrow ? NARROW_HEIGHT_PX : HEIGHT_PX)
                .title(title)
                .xAxisTitle(xTitle)
                .yAxisTitle(yTitle)
                .build();
        style(chart.getStyler(), place);
        int letters = categories.stream().mapToInt(String::length).sum();
        if (letters > (narrow ? ROOMY_LETTERS_WHEN_NARROW : ROOMY_LETTERS)) {
            chart.getStyler().setXAxisLabelRotation(LABEL_ROTATION_DEGREES);
        }
        for (Series one : series) {
            chart.addSeries(one.name(), new ArrayList<>(categories), one.ys());
        }
        return chart;
    }

    private int widthOfBars() {
        return Math.max(WIDTH_PX, WIDTH_PX + (categories.size() - ROOMY_CATEGORIES) * WIDTH_OF_CATEGORY_PX);
    }

    private double min() {
        return series.stream()
                .flatMap(one -> one.ys().stream())
                .mapToDouble(Double::doubleValue)
                .min()
                .orElse(1);
    }

    private void style(AxesChartStyler styler, Place place) {
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setChartTitleVisible(place == Place.FILE);
        // A narrow page shows it above the chart, because it is longer than the axis.
        styler.setYAxisTitleVisible(place != Place.NARROW_PAGE);
        styler.setSeriesColors(COLOURS);
        styler.setLegendPosition(
                place == Place.NARROW_PAGE ? Styler.LegendPosition.OutsideS : Styler.LegendPosition.OutsideE);
        styler.setPlotBorderVisible(false);
        styler.setYAxisLogarithmic(logarithmic);
        styler.setLocale(Locale.ROOT);
        if (logarithmic) {
            // Bars start at 0 by default, which has no logarithm.
            styler.setYAxisMin(Math.pow(10, Math.floor(Math.log10(min()))));
        } else {
            styler.setYAxisMin(0.0);
            styler.setYAxisDecimalPattern("#,##0.###");
        }
    }
}
