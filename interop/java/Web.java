import java.io.File;
import java.nio.file.Files;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.thrift.TProcessor;
import org.apache.thrift.protocol.TProtocolFactory;
import org.apache.thrift.server.TServlet;

/** Serves over HTTP: libthrift's TServlet in Tomcat. */
final class Web {
  private Web() {}

  static void serve(Flags flags, TProcessor processor, TProtocolFactory protocols)
      throws Exception {
    Logger.getLogger("org.apache").setLevel(Level.WARNING);
    File dir = Files.createTempDirectory("interop").toFile();
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(dir.getPath());
    tomcat.setHostname("127.0.0.1");
    tomcat.setPort(flags.number("port", 0));
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    tomcat.getConnector().setProperty("maxThreads", "20");
    Context context = tomcat.addContext("", dir.getPath());
    Tomcat.addServlet(context, "thrift", new TServlet(processor, protocols));
    context.addServletMappingDecoded("/", "thrift");
    tomcat.start();
    System.out.println("listening on " + tomcat.getConnector().getLocalPort());
    tomcat.getServer().await();
  }
}
