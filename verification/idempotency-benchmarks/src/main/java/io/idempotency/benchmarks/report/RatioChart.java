package io.idempotency.benchmarks.report;

import java.awt.Color;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.CategorySeries.CategorySeriesRenderStyle;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.VectorGraphicsEncoder.VectorGraphicsFormat;
import org.knowm.xchart.style.CategoryStyler;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Ratios as bars, with their spread and their goals. */
final class RatioChart {

	private RatioChart() {
	}

	static void write(List<Figure.Measured> results, Path file) throws IOException {
		CategoryChart chart = new CategoryChartBuilder().width(1000)
			.height(500)
			.title("Requests a second ÷ unguarded, or ÷ what is named. Bars: median, lines: least to most, squares: goals")
			.build();
		CategoryStyler styler = chart.getStyler();
		styler.setOverlapped(true);
		styler.setLegendVisible(false);
		styler.setXAxisLabelRotation(45);
		styler.setAvailableSpaceFill(0.5);
		styler.setChartBackgroundColor(Color.WHITE);
		List<String> names = results.stream().map(RatioChart::label).toList();
		chart.addSeries("median", names, results.stream().map((result) -> result.rate().median()).toList())
			.setFillColor(new Color(0x2A9D8F));
		// The library has errors that are alike in both directions: so they have a middle
		// of their own.
		points(chart.addSeries("least and most", names,
				results.stream().map((result) -> (result.rate().least() + result.rate().most()) / 2).toList(),
				results.stream().map((result) -> (result.rate().most() - result.rate().least()) / 2).toList()),
				SeriesMarkers.NONE);
		List<Figure.Measured> withGoals = results.stream().filter((result) -> result.figure().goal() != null).toList();
		if (!withGoals.isEmpty()) {
			points(chart.addSeries("goal", names, results.stream().map(RatioChart::goal).toList()),
					SeriesMarkers.SQUARE);
		}
		ByteArrayOutputStream svg = new ByteArrayOutputStream();
		VectorGraphicsEncoder.saveVectorGraphic(chart, svg, VectorGraphicsFormat.SVG);
		// Texts are outlines, whose points have up to eight digits that nobody sees.
		Files.writeString(file, svg.toString(StandardCharsets.UTF_8).replaceAll("(\\.\\d)\\d+", "$1"));
	}

	/** Without what most of them are measured by. */
	private static String label(Figure.Measured result) {
		return result.figure().name().replaceAll(" ÷ (unguarded|the same transaction)$", "");
	}

	private static Double goal(Figure.Measured result) {
		return (result.figure().goal() != null) ? result.figure().goal().bound() : null;
	}

	private static void points(CategorySeries series, Marker marker) {
		series.setChartCategorySeriesRenderStyle(CategorySeriesRenderStyle.Scatter);
		series.setMarker(marker);
		series.setMarkerColor(new Color(0xD1495B));
	}

}
