package io.idempotency.it.docs;

import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

import io.idempotency.it.docs.Page.Block;

/**
 * Compiles the examples of the documentation: whole files as they are, each other one as
 * the body of a class that has what the example does not tell.
 */
final class JavaExamples {

	private static final String IMPORTS = """
			import java.lang.annotation.*;
			import java.math.BigDecimal;
			import java.net.URI;
			import java.net.http.*;
			import java.time.*;
			import java.util.*;
			import java.util.function.Consumer;
			import javax.sql.DataSource;
			import feign.Feign;
			import io.idempotency.*;
			import io.idempotency.autoconfigure.IdempotencyDataSource;
			import io.idempotency.messaging.KafkaBackOff;
			import io.idempotency.client.*;
			import io.idempotency.reactor.ReactiveIdempotencyTemplate;
			import io.idempotency.store.IdempotencyStore;
			import io.idempotency.store.memory.MemoryIdempotencyStore;
			import io.idempotency.test.*;
			import io.idempotency.web.IdempotencyScopeResolver;
			import io.idempotency.web.IdempotentRoutes;
			import org.apache.kafka.clients.consumer.ConsumerRecord;
			import org.jspecify.annotations.Nullable;
			import org.junit.jupiter.api.Test;
			import org.slf4j.*;
			import org.springframework.amqp.rabbit.annotation.RabbitListener;
			import org.springframework.beans.factory.ObjectProvider;
			import org.springframework.beans.factory.annotation.Autowired;
			import org.springframework.boot.test.context.SpringBootTest;
			import org.springframework.boot.test.context.TestConfiguration;
			import org.springframework.context.ApplicationContext;
			import org.springframework.context.annotation.Bean;
			import org.springframework.context.annotation.Primary;
			import org.springframework.context.event.EventListener;
			import org.springframework.core.annotation.AliasFor;
			import org.springframework.dao.DuplicateKeyException;
			import org.springframework.graphql.data.method.annotation.*;
			import org.springframework.http.HttpStatus;
			import org.springframework.http.ResponseEntity;
			import org.springframework.jdbc.core.JdbcTemplate;
			import org.springframework.jdbc.support.JdbcTransactionManager;
			import org.springframework.jms.annotation.JmsListener;
			import org.springframework.kafka.annotation.KafkaListener;
			import org.springframework.kafka.core.KafkaOperations;
			import org.springframework.kafka.listener.BatchListenerFailedException;
			import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
			import org.springframework.kafka.listener.DefaultErrorHandler;
			import org.springframework.messaging.handler.annotation.Header;
			import org.springframework.modulith.events.ApplicationModuleListener;
			import org.springframework.stereotype.Component;
			import org.springframework.stereotype.Service;
			import org.springframework.transaction.PlatformTransactionManager;
			import org.springframework.transaction.TransactionExecutionListener;
			import org.springframework.transaction.annotation.Propagation;
			import org.springframework.transaction.annotation.Transactional;
			import org.springframework.util.backoff.FixedBackOff;
			import org.springframework.web.bind.annotation.*;
			import org.springframework.web.client.*;
			import org.springframework.web.client.support.RestClientAdapter;
			import org.springframework.web.cors.CorsConfiguration;
			import org.springframework.web.reactive.function.client.WebClient;
			import org.springframework.web.server.ResponseStatusException;
			import org.springframework.web.service.annotation.PostExchange;
			import org.springframework.web.servlet.function.*;
			import org.springframework.web.service.invoker.HttpServiceProxyFactory;
			import reactor.core.publisher.Mono;
			import static org.assertj.core.api.Assertions.assertThat;
			""";

	private static final String SURROUNDINGS = IMPORTS + """
			abstract class Surroundings {

				record NewOrder(String sku, int quantity) { }
				record Order(String id, BigDecimal amount) { }
				record OrderInput(String key, String sku, int quantity) { }
				record Request(String id) { }
				record Receipt(String id) { }
				record Event(String id, String source, long sequence) { }
				record CheckoutForm(String token) { }
				record Query(String text) { }
				record Product(String sku) { }

				// Of Spring AI, whose package differs by version.
				@interface McpTool { String description(); }

				interface Orders {
					Order insert(Request request);
					@Nullable Order findByRequestId(String id);
				}

				interface Gateway {
					Receipt pay(Order order);
					Receipt pay(Order order, long fencingToken);
					@Nullable Receipt find(String id);
				}

				interface Bookings {
					void book(Event event);
				}

				interface OrderHandler {
					ServerResponse place(ServerRequest request) throws Exception;
				}

				interface SearchHandler {
					ServerResponse find(ServerRequest request) throws Exception;
				}

				interface Shop {
					List<Order> orders();
				}

				interface OrderListener {
					void onOrder(Order order);
				}

				Orders orders;
				IdempotentRoutes routes;
				Shop shop;
				OrderListener listener;
				JdbcTemplate jdbc;
				Gateway gateway;
				Bookings bookings;
				RestClient payments;
				WebClient webClient;
				IdempotentCalls calls;
				Order order;
				Logger logger;

			}
			""";

	/** A whole file, which gets nothing added: its readers copy it as it is. */
	private static final Pattern FILE = Pattern.compile("(?s)package .*?\\bclass (\\w+).*");

	private static final Pattern ANNOTATIONS = Pattern.compile("(@Idempotent\\b.*\\R*)+");

	private static final Pattern MEMBERS = Pattern
		.compile("(?s)(@|class |record |(public )?[\\w<>, ]+ \\w+\\([^;]*\\{).*");

	private JavaExamples() {
	}

	/** Compiles the examples; gives what is wrong, with the place of the example. */
	static List<String> problems(List<Block> examples, Path output) {
		List<JavaFileObject> sources = new ArrayList<>();
		sources.add(new Source("Surroundings", "Surroundings", SURROUNDINGS));
		for (Block example : examples) {
			String name = "Example" + sources.size();
			Matcher file = FILE.matcher(example.code());
			sources.add(file.matches() ? new Source(file.group(1), example.place(), example.code())
					: new Source(name, example.place(), IMPORTS + "abstract class " + name + " extends Surroundings {\n"
							+ members(example.code()) + "\n}\n"));
		}
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
		List<String> options = List.of("-proc:none", "-parameters", "-d", output.toString(), "-cp",
				System.getProperty("java.class.path"));
		compiler.getTask(null, null, diagnostics, options, null, sources).call();
		return diagnostics.getDiagnostics()
			.stream()
			.filter((diagnostic) -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
			.map(JavaExamples::message)
			.toList();
	}

	private static String message(Diagnostic<? extends JavaFileObject> diagnostic) {
		String place = (diagnostic.getSource() instanceof Source source) ? source.place : "?";
		return place + ": " + diagnostic.getMessage(Locale.ROOT);
	}

	private static String members(String example) {
		String code = example.replace("{ … }", "{ throw new UnsupportedOperationException(); }");
		if (ANNOTATIONS.matcher(code).matches()) {
			return code.lines()
				.filter((line) -> !line.isBlank())
				.map((annotation) -> annotation + "\nabstract void m" + Integer.toHexString(annotation.hashCode())
						+ "();")
				.collect(Collectors.joining("\n"));
		}
		return MEMBERS.matcher(code).matches() ? code : "void statements() throws Exception {\n" + code + "\n}";
	}

	private static final class Source extends SimpleJavaFileObject {

		private final String place;

		private final String code;

		Source(String name, String place, String code) {
			super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
			this.place = place;
			this.code = code;
		}

		@Override
		public CharSequence getCharContent(boolean ignoreEncodingErrors) {
			return this.code;
		}

	}

}
