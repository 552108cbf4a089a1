package io.idempotency.proofs.outage;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import org.slf4j.LoggerFactory;

/** What the library logs while this is open. */
final class LibraryLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {

	private final Logger logger = (Logger) LoggerFactory.getLogger("io.idempotency");

	private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();

	LibraryLog() {
		setContext(this.logger.getLoggerContext());
		start();
		this.logger.addAppender(this);
	}

	@Override
	protected void append(ILoggingEvent event) {
		if (!event.getLoggerName().startsWith("io.idempotency.it.")) {
			this.events.add(event);
		}
	}

	List<String> lines(Level level) {
		return this.events.stream()
			.filter((event) -> event.getLevel() == level)
			.map(ILoggingEvent::getFormattedMessage)
			.toList();
	}

	int size() {
		return this.events.size();
	}

	@Override
	public void close() {
		this.logger.detachAppender(this);
		stop();
	}

}
