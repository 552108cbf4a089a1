package io.idempotency.it.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The sources of the project, for pages that name what is in them.
 */
final class Sources {

	private static final Pattern MESSAGE = Pattern.compile("\"\\[(IDEM-\\d{3})\\] ((?:[^\"\\\\]|\\\\.)+)\"");

	private static final Pattern LOGGED = Pattern
		.compile("(?:\\.warn|(?:log|logger|\\))\\s*\\.error)\\(\\s*+(?!\"\\[IDEM-)");

	private static final Pattern LEVEL = Pattern.compile("Level\\.(WARN|ERROR)\\b");

	private static final Pattern ABOVE = Pattern
		.compile("(?m)^(?:\\w+ )*(?:class|interface) \\w+ (?:extends|implements) ([\\w, ]+)");

	private static final List<Path> FILES = files();

	private Sources() {
	}

	private static List<Path> files() {
		List<Path> files = new ArrayList<>();
		try {
			Files.walkFileTree(Page.ROOT, new SimpleFileVisitor<>() {

				@Override
				public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
					String name = folder.getFileName().toString();
					boolean made = name.equals("target") || name.startsWith(".") || name.equals("node_modules");
					return made ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
				}

				@Override
				public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
					if (file.toString().endsWith(".java")) {
						files.add(file);
					}
					return FileVisitResult.CONTINUE;
				}

			});
			return files;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Returns whether there is a class, and a method that it declares or takes over.
	 * @param type the simple name of the class; several may have it
	 * @param method the name of the method, or nothing
	 */
	static boolean has(String type, String method) {
		return FILES.stream()
			.filter((file) -> file.endsWith(type + ".java"))
			.map(Sources::read)
			.anyMatch((text) -> method.isEmpty() || text.contains("void " + method + "(") || inherits(text, method));
	}

	/**
	 * Returns whether the published sources declare a type, at the top level or nested.
	 */
	static boolean declares(String type) {
		return Pattern.compile("\\b(?:class|interface|record|enum) " + type + "\\b").matcher(published()).find();
	}

	/** The scenarios of a test may be those of an interface or of a class above. */
	private static boolean inherits(String text, String method) {
		return ABOVE.matcher(text)
			.results()
			.flatMap((above) -> Stream.of(above.group(1).split("\\W+")))
			.anyMatch((type) -> has(type, method));
	}

	/** The text of what is published, each text of several parts in one. */
	static String published() {
		return publishedFiles().map(Sources::joined).collect(Collectors.joining("\n"));
	}

	private static Stream<Path> publishedFiles() {
		return FILES.stream().filter(Sources::isPublished);
	}

	/** Joins string literals that are concatenated. */
	private static String joined(Path file) {
		return read(file).replaceAll("\\\\\\R\\s*", "").replaceAll("\"\\s*\\+\\s*\"", "");
	}

	private static boolean isPublished(Path file) {
		String path = Page.ROOT.relativize(file).toString().replace('\\', '/');
		int main = path.indexOf("/src/main/java/");
		return main > 0 && !path.substring(0, main).matches(".*(samples|benchmarks|test|verification).*");
	}

	private static String read(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Returns the log messages with an id, in the order of their ids. */
	static List<Message> messages() {
		return publishedFiles().flatMap(Sources::messages).sorted(Comparator.comparing(Message::id)).toList();
	}

	private static Stream<Message> messages(Path file) {
		String text = joined(file);
		return MESSAGE.matcher(text)
			.results()
			.map((message) -> new Message(message.group(1), level(text.substring(0, message.start())),
					message.group(2).replace("{}", "…"), file.getFileName().toString().replace(".java", "")));
	}

	/** Only a call of {@code error} logs at ERROR; computed levels are WARN at most. */
	private static String level(String before) {
		int warn = Math.max(before.lastIndexOf(".warn("),
				Math.max(before.lastIndexOf(".log("), before.lastIndexOf("once(")));
		return (before.lastIndexOf(".error(") > warn) ? "ERROR" : "WARN";
	}

	/** Returns the classes that log at WARN or ERROR without an id. */
	static List<String> loggingWithoutId() {
		return publishedFiles().filter((file) -> {
			String text = joined(file);
			return LOGGED.matcher(text).find() || LEVEL.matcher(text).find() && !MESSAGE.matcher(text).find();
		}).map(Path::toString).toList();
	}

	/**
	 * A log message at WARN or ERROR.
	 *
	 * @param id its stable id
	 * @param level its level
	 * @param text its text, with "…" for what changes
	 * @param type the simple name of the class that logs it
	 */
	record Message(String id, String level, String text, String type) {

	}

}
