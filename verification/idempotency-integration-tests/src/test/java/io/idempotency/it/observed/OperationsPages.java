package io.idempotency.it.observed;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.yaml.snakeyaml.Yaml;

/** What the documentation for operators names. */
final class OperationsPages {

	static final List<String> FILES = List.of("docs/metrics.md", "docs/alerts.md",
			"docs/grafana/idempotency-dashboard.json", "docs/grafana/idempotency-alerts.yaml");

	private static final Pattern NAME = Pattern.compile("\\b(idempotency|cache)_[a-z_]*[a-z]\\b");

	private static final Pattern BLOCK = Pattern.compile("(?ms)^```promql$\\n(.*?)^```$");

	private static final Pattern LABELLED = Pattern.compile("\\b(outcome|event|verb)=~?\"([^\"]+)\"");

	private static final Pattern ALERT = Pattern.compile("- alert: (\\w+)");

	private OperationsPages() {
	}

	/** The metrics that each file names. */
	static Map<String, Set<String>> names() {
		Map<String, Set<String>> names = new TreeMap<>();
		for (String file : FILES) {
			Set<String> named = new TreeSet<>();
			String text = file.endsWith(".md") ? text(file) : String.join("\n", queries(file));
			NAME.matcher(text).results().map(MatchResult::group).forEach(named::add);
			names.put(file, named);
		}
		return names;
	}

	/** The values of a label that any query names. */
	static Set<String> labelled(String label) {
		Set<String> values = new TreeSet<>();
		for (String file : FILES) {
			LABELLED.matcher(String.join("\n", queries(file)))
				.results()
				.filter((named) -> named.group(1).equals(label))
				.forEach((named) -> values.addAll(List.of(named.group(2).split("\\|"))));
		}
		return values;
	}

	/** The queries of a file. */
	static List<String> queries(String file) {
		if (file.endsWith(".md")) {
			return BLOCK.matcher(text(file)).results().map((block) -> block.group(1)).toList();
		}
		List<String> queries = new ArrayList<>();
		// JSON is YAML, too.
		Object root = new Yaml().load(text(file));
		collect(root, queries);
		return queries;
	}

	/** The queries of a dashboard, by the titles of its panels. */
	@SuppressWarnings("unchecked")
	static Map<String, List<String>> panels(String file) {
		Map<String, Object> root = new Yaml().load(text(file));
		Map<String, List<String>> panels = new TreeMap<>();
		for (Map<String, Object> panel : (List<Map<String, Object>>) root.get("panels")) {
			List<String> queries = new ArrayList<>();
			collect(panel, queries);
			panels.put(String.valueOf(panel.get("title")), queries);
		}
		return panels;
	}

	/** The queries of a dashboard, each with the unit of its axis. */
	@SuppressWarnings("unchecked")
	static Map<String, String> units(String file) {
		Map<String, Object> root = new Yaml().load(text(file));
		Map<String, String> units = new TreeMap<>();
		for (Map<String, Object> panel : (List<Map<String, Object>>) root.get("panels")) {
			Map<String, Object> fields = (Map<String, Object>) panel.get("fieldConfig");
			for (Map<String, String> query : (List<Map<String, String>>) panel.get("targets")) {
				String unit = ((Map<String, Object>) fields.get("defaults")).get("unit").toString();
				for (Map<String, Object> override : (List<Map<String, Object>>) fields.get("overrides")) {
					if (((Map<String, String>) override.get("matcher")).get("options").equals(query.get("refId"))) {
						unit = ((List<Map<String, String>>) override.get("properties")).get(0).get("value");
					}
				}
				units.put(query.get("expr"), unit);
			}
		}
		return units;
	}

	private static void collect(Object node, List<String> queries) {
		if (node instanceof Map<?, ?> map) {
			map.forEach((key, value) -> {
				if (key.equals("expr")) {
					queries.add(String.valueOf(value));
				}
				collect(value, queries);
			});
		}
		else if (node instanceof List<?> list) {
			list.forEach((each) -> collect(each, queries));
		}
	}

	/** The names of the alerts. */
	static List<String> alerts() {
		return ALERT.matcher(text("docs/grafana/idempotency-alerts.yaml"))
			.results()
			.map((alert) -> alert.group(1))
			.toList();
	}

	static String text(String file) {
		try {
			return Files.readString(Path.of("../..").resolve(file));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
