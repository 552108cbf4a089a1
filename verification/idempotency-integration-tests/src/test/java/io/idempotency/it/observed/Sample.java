package io.idempotency.it.observed;

import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** One line of a scrape. */
public record Sample(String name, Map<String, String> labels, double value) {

	private static final Pattern LINE = Pattern.compile("([a-zA-Z0-9_:]+)(?:\\{(.*)})? (\\S+)");

	private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

	public static List<Sample> all(String scrape) {
		return scrape.lines().filter((line) -> !line.startsWith("#") && !line.isBlank()).map(Sample::of).toList();
	}

	private static Sample of(String line) {
		Matcher matcher = LINE.matcher(line);
		if (!matcher.matches()) {
			throw new IllegalArgumentException(line);
		}
		String labels = (matcher.group(2) != null) ? matcher.group(2) : "";
		return new Sample(matcher.group(1),
				LABEL.matcher(labels)
					.results()
					.collect(Collectors.toMap((label) -> label.group(1), (MatchResult label) -> label.group(2))),
				Double.parseDouble(matcher.group(3)));
	}

	public String label(String label) {
		return String.valueOf(this.labels.get(label));
	}

}
