package io.idempotency.benchmarks.house;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All modules in figures. Without a word that says otherwise a figure is of the library's
 * main code.
 */
final class House {

	private static final String EXPLANATION = """
			The library is what is published and runs in applications; the code of the kit is for tests, ours and those of users. *Code* = lines that are
			more than comments, blanks and imports. A class is a source file that has a type, with all that is nested in it. Its users are the other classes of the library
			whose class files name it. A circle = classes of one package each of which leads to each other by way of classes of the package. Tags = lines of Javadoc that
			begin with a tag, in files with a public type marked `@Internal`. Test code is that of all modules, samples as well.
			""";

	private final List<SourceModule> modules;

	private final List<SourceFile> library;

	private final TypeGraph graph = new TypeGraph();

	House(Path root) throws IOException {
		this.modules = SourceModule.below(root);
		this.library = new ArrayList<>();
		for (SourceModule module : this.modules) {
			if (module.kind() == SourceModule.Kind.LIBRARY && !module.main().isEmpty()) {
				this.library.addAll(module.main());
				module.classes().forEach(this.graph::add);
			}
		}
	}

	String report() {
		MarkdownTable modules = new MarkdownTable("module", "", "main files", "code", "lines", "test files",
				"test code", "test lines");
		for (SourceModule module : this.modules) {
			modules.row("`" + module.name() + "`", module.kind().name().toLowerCase(Locale.ROOT), module.main().size(),
					sum(module.main(), SourceFile::code), sum(module.main(), SourceFile::lines), module.tests().size(),
					sum(module.tests(), SourceFile::code), sum(module.tests(), SourceFile::lines));
		}
		MarkdownTable packages = new MarkdownTable("module", "package", "files", "code", "classes with one user",
				"with ≤ " + SourceFile.SMALL + " code lines", "largest circle");
		for (SourceModule module : this.modules) {
			if (module.kind() == SourceModule.Kind.LIBRARY) {
				byPackage(module.main())
					.forEach((name, files) -> packages.row("`" + module.name() + "`", shortName(name), files.size(),
							sum(files, SourceFile::code), oneUser(files).size(), small(files), circle(files).size()));
			}
		}
		return EXPLANATION + "\n" + summary() + "\n" + modules + "\n" + packages;
	}

	private MarkdownTable summary() {
		List<SourceFile> classes = classes(this.library).toList();
		List<SourceFile> internal = classes.stream().filter(SourceFile::internal).toList();
		int code = sum(this.library, SourceFile::code);
		List<SourceFile> tests = this.modules.stream().flatMap((module) -> module.tests().stream()).toList();
		SourceFile longest = classes.stream().max(Comparator.comparingInt(SourceFile::code)).orElseThrow();
		int testCode = sum(tests, SourceFile::code);
		return new MarkdownTable("", "figure")
			.row("main files; code; lines", List.of(this.library.size(), code, sum(this.library, SourceFile::lines)))
			.row("packages; the largest, in files", largest((files) -> files.size()))
			.row("classes; with one user; with ≤ " + SourceFile.SMALL + " code lines",
					List.of(classes.size(), oneUser(this.library).size(), small(this.library)))
			.row("largest circles of classes inside a package", largest((files) -> circle(files).size()))
			.row("public types marked `@Internal`; their tags",
					List.of(internal.size(), sum(internal, SourceFile::tags)))
			.row("test code; ÷ main code", List.of(testCode, "%.2f".formatted(testCode / (double) code)))
			.row("longest class; its code", List.of("`" + longest.simpleName() + "`", longest.code()));
	}

	/** The packages in which a figure is largest. */
	private List<?> largest(ToIntFunction<List<SourceFile>> figure) {
		Map<String, Integer> figures = new TreeMap<>();
		byPackage(this.library).forEach((name, files) -> figures.put(name, figure.applyAsInt(files)));
		String largest = figures.entrySet()
			.stream()
			.sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
			.limit(6)
			.map((each) -> shortName(each.getKey()) + " " + each.getValue())
			.collect(Collectors.joining(", "));
		return List.of(figures.size(), largest);
	}

	/**
	 * The names behind the figures: of classes with one user, of small ones, of circles.
	 */
	String names() {
		StringBuilder names = new StringBuilder("With one user\n");
		oneUser(this.library).forEach((type) -> names.append(type + " <- " + this.graph.usersOf(type) + "\n"));
		names.append("\nWith at most " + SourceFile.SMALL + " code lines\n");
		classes(this.library).filter(SourceFile::isSmall).forEach((file) -> names.append(file.type() + "\n"));
		names.append("\nThe largest circle of each package\n");
		byPackage(this.library).forEach((name, files) -> names.append(name + " " + circle(files) + "\n"));
		return names.toString();
	}

	private static String shortName(String packageName) {
		return "`" + packageName.replaceFirst("^io\\.idempotency\\.", "") + "`";
	}

	/** Those that one other class alone names. */
	List<String> oneUser(Collection<SourceFile> files) {
		return classes(files).map(SourceFile::type).filter((type) -> this.graph.usersOf(type).size() == 1).toList();
	}

	Set<String> circle(Collection<SourceFile> files) {
		return this.graph.largestCircle(classes(files).map(SourceFile::type).toList());
	}

	private static long small(Collection<SourceFile> files) {
		return classes(files).filter(SourceFile::isSmall).count();
	}

	private static Stream<SourceFile> classes(Collection<SourceFile> files) {
		return files.stream().filter((file) -> !file.isPackageInfo());
	}

	private static Map<String, List<SourceFile>> byPackage(Collection<SourceFile> files) {
		return files.stream()
			.collect(Collectors.groupingBy(SourceFile::packageName, TreeMap::new, Collectors.toList()));
	}

	private static int sum(Collection<SourceFile> files, ToIntFunction<SourceFile> figure) {
		return files.stream().mapToInt(figure).sum();
	}

}
