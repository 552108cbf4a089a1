package io.idempotency.benchmarks.house;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What one call enters on its way through the library, on the thread of its request.
 *
 * @param entries the methods of the library, and the statements that are sent meanwhile
 */
record Way(List<Entry> entries) {

	static final String EXPLANATION = """
			One `POST /api/orders` of the packaged shop after others, with a new key, and a duplicate of one: each method that it enters, on the thread of its request. *Classes* are source files with
			all that is nested in them; what the JVM or Spring has generated is none. *Calls into another class*: the nearest caller in the library is another class; without
			constructors, accessors of records, and the helpers for bytes, JSON and digests. *Frames* are those of the library from the interceptor, or from the filter where it is not
			reached, to the first statement of the store.
			""";

	/**
	 * By their names: {@code ByteArrayBuffer}, {@code LengthPrefixedDigest} and the like.
	 */
	private static final Pattern HELPER = Pattern
		.compile("\\.(Byte\\w*|\\w+Digest|Fingerprint|Json\\w+|Jackson\\d\\w+)$");

	/** How many of its classes it enters. */
	long classes() {
		return own().map(Entry::type).distinct().count();
	}

	/** How many of their methods. */
	long methods() {
		return own().count();
	}

	/** How often it goes from one class to another. */
	long moves() {
		return own().filter(Way::isMove).count();
	}

	private Stream<Entry> own() {
		return this.entries.stream().filter((entry) -> entry.stack().get(0).isOwn());
	}

	private static boolean isMove(Entry entry) {
		boolean counts = !entry.accessor() && !entry.stack().get(0).method().equals("<init>")
				&& !HELPER.matcher(entry.type()).find();
		return counts && entry.stack()
			.stream()
			.skip(1)
			.filter(Frame::isOwn)
			.limit(1)
			.anyMatch((caller) -> !caller.outermost().equals(entry.type()));
	}

	/**
	 * The own frames when the store sends its first statement, from the interceptor
	 * inwards; empty if it sends none.
	 */
	List<Frame> framesToStatement() {
		return this.entries.stream()
			.filter((entry) -> !entry.stack().get(0).isOwn())
			.map((entry) -> entry.stack().stream().filter(Frame::isOwn).toList())
			.filter((own) -> own.stream().anyMatch(Frame::isJdbc))
			.findFirst()
			.map(Way::fromInterceptor)
			.orElse(List.of());
	}

	private static List<Frame> fromInterceptor(List<Frame> innermostFirst) {
		int interceptor = IntStream.range(0, innermostFirst.size())
			.filter((i) -> innermostFirst.get(i).outermost().endsWith(".IdempotencyInterceptor"))
			.findFirst()
			.orElse(innermostFirst.size() - 1);
		return innermostFirst.subList(0, interceptor + 1);
	}

	/** Its entries, one a line, as deep as they are in the library. */
	String log() {
		return this.entries.stream()
			.map((entry) -> "  ".repeat((int) entry.stack().stream().skip(1).filter(Frame::isOwn).count())
					+ entry.stack().get(0))
			.collect(Collectors.joining("\n", "", "\n"));
	}

	/**
	 * The entry of a method.
	 *
	 * @param stack its frames, the innermost, which is new, first
	 * @param accessor whether the method is the accessor of a record
	 */
	record Entry(List<Frame> stack, boolean accessor) {

		String type() {
			return this.stack.get(0).outermost();
		}

	}

	/**
	 * A method that has been entered and not left.
	 *
	 * @param type its class
	 * @param method its name
	 */
	record Frame(String type, String method) {

		/** Whether somebody has written it for this library. */
		boolean isOwn() {
			return this.type.startsWith("io.idempotency.") && !this.type.startsWith("io.idempotency.samples.")
					&& !this.type.contains("$$");
		}

		boolean isJdbc() {
			return this.type.contains(".jdbc.");
		}

		String outermost() {
			return ClassFile.outermost(this.type);
		}

		@Override
		public String toString() {
			return this.type + "." + this.method;
		}

	}

}
