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
 * Lines over a number, or bars over names, as a picture. Needs no screen, but fonts.
 *
 * @param categories what bars stand for; null for lines
 * @param logarithmic whether the upright axis is
 */
public record Chart(
        String title, String xTitle, String yTitle, List<String> categories, boolean logarithmic, List<Series> series) {

    private static final int WIDTH_PX = 900;
    private static final int HEIGHT_PX = 420;
    /** Bars beyond these need more room. */
    private static final int ROOMY_CATEGORIES = 9;

    /** Names of bars that are longer than this together stand at an angle. */
    private static final int ROOMY_LETTERS = 90;

    private static final int WIDTH_OF_CATEGORY_PX = 40;
    private static final int LABEL_ROTATION_DEGREES = 60;

    /**
     * A line, or the bars of one colour.
     *
     * @param xs where the values belong; not used for bars
     * @param ys as many as {@code xs}, or as categories
     */
    public record Series(String name, List<Double> xs, List<Double> ys) {}

    /** Lines over a number. */
    public static Chart lines(String title, String xTitle, String yTitle, List<Series> series) {
        return new Chart(title, xTitle, yTitle, null, false, series);
    }

    /** Groups of bars. */
    public static Chart bars(String title, String xTitle, String yTitle, List<String> categories, List<Series> series) {
        return new Chart(title, xTitle, yTitle, categories, false, series);
    }

    /** The same with an upright axis that goes by factors of ten; values must be above 0. */
    public Chart byFactorsOfTen() {
        return new Chart(title, xTitle, yTitle, categories, true, series);
    }

    public void writePng(Path file) {
        try {
            Files.write(file, BitmapEncoder.getBitmapBytes(drawn(), BitmapEncoder.BitmapFormat.PNG));
        } catch (IOException e) {
            throw new BenchException("cannot write " + file, "give a directory that can be written", e);
        }
    }

    /** An {@code svg} element, to stand in a page. */
    public String svg() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            VectorGraphicsEncoder.saveVectorGraphic(drawn(), out, VectorGraphicsEncoder.VectorGraphicsFormat.SVG);
        } catch (IOException e) {
            throw new IllegalStateException("memory can be written", e);
        }
        String text = out.toString(StandardCharsets.UTF_8);
        return text.substring(text.indexOf("<svg"));
    }

    private org.knowm.xchart.internal.chartpart.Chart<?, ?> drawn() {
        System.setProperty("java.awt.headless", "true");
        try {
            return categories == null ? drawnLines() : drawnBars();
        } catch (LinkageError | InternalError noFonts) {
            throw new BenchException(
                    "charts cannot be drawn here", "install a font, such as fonts-dejavu-core", noFonts);
        }
    }

    private XYChart drawnLines() {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH_PX)
                .height(HEIGHT_PX)
                .title(title)
                .xAxisTitle(xTitle)
                .yAxisTitle(yTitle)
                .build();
        style(chart.getStyler());
        for (Series one : series) {
            if (!one.ys().isEmpty()) {
                chart.addSeries(one.name(), one.xs(), one.ys())
                        .setMarker(one.ys().size() > 1 ? SeriesMarkers.NONE : SeriesMarkers.CIRCLE);
            }
        }
        return chart;
    }

    private CategoryChart drawnBars() {
        CategoryChart chart = new CategoryChartBuilder()
                .width(Math.max(WIDTH_PX, WIDTH_PX + (categories.size() - ROOMY_CATEGORIES) * WIDTH_OF_CATEGORY_PX))
                .height(HEIGHT_PX)
                .title(title)
                .xAxisTitle(xTitle)
                .yAxisTitle(yTitle)
                .build();
        style(chart.getStyler());
        int letters = categories.stream().mapToInt(String::length).sum();
        if (letters > ROOMY_LETTERS) {
            chart.getStyler().setXAxisLabelRotation(LABEL_ROTATION_DEGREES);
        }
        for (Series one : series) {
            chart.addSeries(one.name(), new ArrayList<>(categories), one.ys());
        }
        return chart;
    }

    private double least() {
        return series.stream()
                .flatMap(one -> one.ys().stream())
                .mapToDouble(Double::doubleValue)
                .min()
                .orElse(1);
    }

    private void style(AxesChartStyler styler) {
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setLegendPosition(Styler.LegendPosition.OutsideE);
        styler.setPlotBorderVisible(false);
        styler.setYAxisLogarithmic(logarithmic);
        styler.setLocale(Locale.ROOT);
        if (logarithmic) {
            // Bars would begin at 0, which has no logarithm.
            styler.setYAxisMin(Math.pow(10, Math.floor(Math.log10(least()))));
        } else {
            styler.setYAxisMin(0.0);
            styler.setYAxisDecimalPattern("#,##0.###");
        }
    }
}
