package io.idempotency.it.scenarios;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import org.slf4j.LoggerFactory;

/**
 * What the server logs while this is open. Tomcat's lines are read where Tomcat writes
 * them: the bridge that brings them to Logback belongs to the applications of this
 * virtual machine and is gone once another one of them has closed.
 */
final class ServerLog implements AutoCloseable {

	private final List<String> lines = new CopyOnWriteArrayList<>();

	private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);

	private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {

		@Override
		protected void append(ILoggingEvent event) {
			ServerLog.this.lines
				.add(event.getFormattedMessage() + ThrowableProxyUtil.asString(event.getThrowableProxy()));
		}

	};

	private final java.util.logging.Logger tomcat = java.util.logging.Logger.getLogger("org.apache.catalina");

	private final Handler handler = new Handler() {

		@Override
		public void publish(LogRecord record) {
			ServerLog.this.lines.add(record.getMessage() + ": " + record.getThrown());
		}

		@Override
		public void flush() {
			// nothing is held back
		}

		@Override
		public void close() {
			// nothing is open
		}

	};

	ServerLog() {
		this.appender.setContext(this.root.getLoggerContext());
		this.appender.start();
		this.root.addAppender(this.appender);
		this.tomcat.addHandler(this.handler);
	}

	List<String> lines() {
		return this.lines;
	}

	@Override
	public void close() {
		this.tomcat.removeHandler(this.handler);
		this.root.detachAppender(this.appender);
	}

}
