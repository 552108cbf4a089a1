package io.idempotency.it.servers;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Another JVM, to be killed.
 */
public final class OtherJvm implements AutoCloseable {

	private final Process process;

	private final BufferedReader output;

	private OtherJvm(Process process) {
		this.process = process;
		this.output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
	}

	/**
	 * How a JVM with the class path of this one is started.
	 * @param main its main class
	 * @param arguments what its main method gets
	 * @return the command
	 */
	public static List<String> command(Class<?> main, List<String> arguments) {
		return command(System.getProperty("java.class.path"), main.getName(), arguments);
	}

	/**
	 * How such a JVM is started whose application has one of the stacks.
	 * @param stack which one
	 * @param main its main class
	 * @param arguments what its main method gets
	 * @return the command
	 */
	public static List<String> command(Stack stack, Class<?> main, List<String> arguments) {
		return command(stack.classPath(), main.getName(), arguments);
	}

	private static List<String> command(String classPath, String main, List<String> arguments) {
		// It lives for seconds: compiled hastily.
		List<String> command = new ArrayList<>(
				List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
						"-XX:+UseSerialGC", "-cp", classPath, main));
		command.addAll(arguments);
		return command;
	}

	/**
	 * Starts one with the class path of this one.
	 * @param main its main class
	 * @param arguments what its main method gets
	 * @return the JVM, which has only begun
	 */
	public static OtherJvm start(Class<?> main, String... arguments) {
		return start(command(main, List.of(arguments)));
	}

	/**
	 * Starts one with a class path of its own.
	 * @param classPath the class path
	 * @param main the name of its main class
	 * @param arguments what its main method gets
	 * @return the JVM, which has only begun
	 */
	public static OtherJvm start(String classPath, String main, String... arguments) {
		return start(command(classPath, main, List.of(arguments)));
	}

	private static OtherJvm start(List<String> java) {
		// In a process group of its own: at its end the kernel hangs up on all of them.
		List<String> command = new ArrayList<>(List.of("timeout", "600"));
		command.addAll(java);
		try {
			return new OtherJvm(new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Waits until it prints something.
	 * @param pattern the pattern of the whole line
	 * @return the line
	 */
	public String awaitLine(String pattern) {
		try {
			StringBuilder said = new StringBuilder();
			for (String line = this.output.readLine(); line != null; line = this.output.readLine()) {
				if (line.matches(pattern)) {
					return line;
				}
				said.append(line).append('\n');
			}
			throw new IllegalStateException("The other JVM has ended and not said " + pattern + ", but: " + said);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** SIGKILL: no shutdown hook runs. */
	public void kill() {
		if (this.process.isAlive()) {
			// Those of a dead one are the children of whoever has its pid now.
			this.process.children().forEach(ProcessHandle::destroyForcibly);
		}
		try {
			this.process.destroyForcibly().waitFor();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public void close() {
		kill();
	}

	/**
	 * Which of the two stacks an application in a JVM of its own has: it gets the class
	 * path of this JVM without the jars of the other one.
	 */
	public enum Stack {

		/** Spring MVC on Tomcat. */
		SERVLET("spring-webflux-", "spring-boot-webflux-", "reactor-netty-", "spring-boot-reactor-netty-", "r2dbc-",
				"spring-r2dbc-"),

		/** Spring WebFlux on Netty. */
		REACTIVE("spring-webmvc-", "spring-boot-webmvc-", "tomcat-embed-", "spring-boot-tomcat-", "HikariCP-",
				"spring-jdbc-", "spring-boot-jdbc-");

		private final List<String> otherJars;

		Stack(String... otherJars) {
			this.otherJars = List.of(otherJars);
		}

		/**
		 * Gives the class path of such an application.
		 * @return the class path
		 */
		public String classPath() {
			return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
				.filter((entry) -> this.otherJars.stream().noneMatch(new File(entry).getName()::startsWith))
				.collect(Collectors.joining(File.pathSeparator));
		}

	}

}
